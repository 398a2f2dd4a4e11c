"""The way to a model: the client, the pace that workers share, and what an endpoint's answers and errors mean."""
