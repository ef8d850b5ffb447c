"""What we speak: the chunks, requests and messages of AI SDK 5, 6 and 7, as they stand on the wire.

`chunks` has the values, `codec` reads and writes them, `sse` reads event streams, `json` keeps JSON harmless,
`grammar` says what may follow what, `dialects` which client accepts what, `downlevel` what to say instead.
"""
