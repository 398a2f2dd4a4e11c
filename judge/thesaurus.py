"""Words that programmers use for one another, so that a function may answer a search without sharing a word with it.

General vocabulary of programming in groups of near synonyms, one a line; a word may be in several. No search, function or
rating of any dataset went into it. Words are compared by their stems.
"""

GROUPS = """
abort cancel kill stop terminate
account login member user
add append attach insert prepend push put
address host hostname ip
aggregate collect reduce summarize total sum
allow grant permit
amount count number quantity
analyze examine inspect
answer reply response
approve accept confirm
archive backup snapshot
arg argument option param parameter
array collection elements items list sequence slice tuple vector
async background concurrent parallel thread
attempt retry try
average avg mean
begin first init initial open start
blank empty
block chunk group page partition segment split batch
body content payload
bool boolean flag
bound clamp limit max maximum min minimum
branch fork
browse list show
buffer cache memoize store
build compose construct create generate instantiate make new produce
bytes binary blob raw
call execute invoke run
callback handler hook listener
change edit modify mutate set update
char character letter rune symbol
check ensure is test valid validate verify
child descendant node
class kind type
clean normalize sanitize strip tidy trim
clear erase reset wipe
client consumer
close end finish last shutdown
code source
color colour rgb
column field
combine concat concatenate extend join merge union
command shell subprocess
compare diff difference equal
compress deflate gzip pack zip
compute calculate calc determine evaluate
config configuration preferences settings
connect dial link
connection socket
convert cast coerce encode from marshal parse serialize to transform translate
copy clone
crash error exception fail failure panic
credential passphrase passwd password pwd secret
crypt cipher encrypt
cut slice substring
cycle loop
date day datetime time timestamp
db database sql
decode deserialize load parse unmarshal
decompress extract inflate unpack unzip
decrement decrease lower
decrypt decipher
default fallback
delay pause sleep wait
delete discard drop eliminate erase remove strip
dict dictionary hash hashmap map mapping object
digest checksum hash md5 sha
dir directory folder
distinct dedupe deduplicate duplicate repeated unique uniq
display print render show view
divide quotient
document docs text
download fetch get request retrieve
duration elapsed interval period
each every iterate walk
email mail
enqueue queue
enum constant
env environment
escape quote
even odd parity
event message notification signal
exist has contain include present
expand flatten unnest
expire expiry ttl
file path filename
filter match select where
find locate lookup query search
float decimal double real
format pretty readable representation
frequency histogram occurrence tally count
function method procedure
graph network
greatest highest largest longest max maximum biggest top
guess infer
header title
heap priority
html markup
image picture photo
increment increase raise
index offset position
integer int numeric number
intersect common shared
invert flip reverse
json yaml toml
key name
launch spawn start
least lowest minimum min shortest smallest
length len size
line row record
lock mutex semaphore
log logger logging trace
lowercase lower
uppercase upper capitalize
math arithmetic
median middle percentile quantile
move rename
multiply product times
nested deep recursive
notify publish emit send post
order rank sort
password auth
permission access mode
pick choose sample select
pixel image
pop shift take
port socket
prefix leading
suffix trailing extension
prime factor
process task job worker
progress percent
queue channel
random rand shuffle
range interval
rate speed throttle limit
read load scan
recurse recursive traverse walk visit
redirect forward
regex pattern regexp
replace substitute swap
request http
resize scale
root base
round ceil floor
save dump persist store write
schedule cron timer
server service
session cookie token
spread variance deviation
stack trace
status state
stream reader
string str text
switch toggle
table matrix grid
tag label
template placeholder
temporary temp tmp
timeout deadline
tree hierarchy
uid uuid id identifier
upload send
url uri link href
version release
warn warning
weight score
whitespace space blank
wrap indent
zero null nil none
"""
