"""The only access to the rows of models and servers: sync functions of one transaction each."""

# What only reads opens none of its own: on SQLite a transaction begins IMMEDIATE, so a page that merely looks would
# wait for whoever is writing. A caller that needs several answers of one moment opens one around them.
