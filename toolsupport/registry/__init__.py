"""The only access to the rows of models and servers: sync functions of one transaction each."""

# Functions that only read open no transaction: on SQLite it begins IMMEDIATE, so a page that only reads would wait
# for writers. A caller that needs several consistent answers opens one around them.
