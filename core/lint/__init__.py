"""What makes a declared tool hard to call: rules over its schema, with the place and the cure."""
