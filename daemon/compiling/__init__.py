"""From evidence to the durable files: the grace queue, the compile, and what each file rests on."""
