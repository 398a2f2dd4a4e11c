"""What is to be judged: the dataset, the retrievers' hits and the pool made of them."""
