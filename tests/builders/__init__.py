"""What tests are made of, in one place, so that no test module imports another.

places       where the checkout is, and the real ratings beside it
rows         rows in the published columns, and small dataset folders
samples      the sample as a dataset folder of its own, and judges for it
three_judges the sample with three judges of one pool
command      `judge` as a user runs it
judging      pairs, a judge, a clock, and ratings in this process or in one of their own
ledgers      replies and ledgers made by hand
texts_shown  ledgers over two searches and two functions whose texts change
verdicts     ratings with given counts, and the verdict on them
hits_made    hits, searches and functions out of which pools are drawn
repositories git repositories and their files
vectors_made an embedder of hashes
fake_api     an endpoint for chat completions and jobs, with every fault
host         a server of files, and of anything else that is one answer a request
letters      an endpoint for embeddings
llm_server   a real small LLM behind a real server
with_registered  `judge` with a measure and a format added through the registries
"""
