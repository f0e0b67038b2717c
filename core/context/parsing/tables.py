"""What each grammar calls a definition, a comment, a call, an import: one query a language.

Captures are named after what they are to us:

    function method class interface struct enum trait impl type module constant   a definition
    member   a function in an object literal: a definition only in a constant that is split
    overload a signature without a body: part of the definition of that name that follows it
    wrap     lends its lines to the definition in it (decorators, `template<…>`)
    scope    an anonymous function: what a short one defines is nobody else's
    attach   belongs to the definition below it when nothing stands between
    doc      the documentation inside a definition
    call     a name that is called
    import   a statement or a string that names another file
"""

from __future__ import annotations

from typing import NamedTuple


class Table(NamedTuple):
    """A grammar: its package, its function in there, its query."""

    package: str
    function: str
    query: str


_PYTHON = """
(function_definition) @function
(class_definition) @class
(decorated_definition) @wrap
(module (expression_statement (assignment left: (identifier)) @constant))
(comment) @attach
(block . (expression_statement . (string) @doc .))
(call function: (identifier) @call)
(call function: (attribute attribute: (identifier) @call))
(decorator (identifier) @call)
(decorator (attribute attribute: (identifier) @call))
(import_statement) @import
(import_from_statement) @import
"""

_JAVASCRIPT = """
(function_declaration) @function
(generator_function_declaration) @function
(method_definition) @method
(variable_declarator
  value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator value: (class)) @class
(assignment_expression
  right: [(arrow_function) (function_expression) (generator_function)]) @function
(assignment_expression right: (class)) @class
(pair value: [(arrow_function) (function_expression) (generator_function)]) @member
(program (lexical_declaration (variable_declarator value:
  [(object) (array) (call_expression) (new_expression) (template_string) (await_expression)
   (binary_expression) (ternary_expression)]) @constant))
(program (variable_declaration (variable_declarator value:
  [(object) (array) (call_expression) (new_expression) (template_string)
   (binary_expression) (ternary_expression)]) @constant))
(program (export_statement declaration: (lexical_declaration (variable_declarator value:
  [(object) (array) (call_expression) (new_expression) (template_string) (await_expression)
   (binary_expression) (ternary_expression)]) @constant)))
(program (expression_statement (assignment_expression right: (object)) @constant))
(program (export_statement value: (class)) @class)
(program (export_statement value: [(arrow_function) (function_expression) (generator_function)])
  @function)
(program (export_statement value:
  [(object) (array) (call_expression) (new_expression)]) @constant)
(export_statement) @wrap
[(arrow_function) (function_expression) (generator_function)] @scope
(comment) @attach
(decorator) @attach
(call_expression function: (identifier) @call)
(call_expression function: (member_expression property: (property_identifier) @call))
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression property: (property_identifier) @call))
(import_statement) @import
(export_statement source: (string)) @import
"""

_JSX = """
(jsx_opening_element name: (identifier) @call)
(jsx_self_closing_element name: (identifier) @call)
"""

_ONLY_JAVASCRIPT = """
(class_declaration) @class
(field_definition
  value: [(arrow_function) (function_expression) (generator_function)]) @method
"""

_TYPESCRIPT = (
    _JAVASCRIPT.replace(
        "(ternary_expression)", "(ternary_expression) (as_expression) (satisfies_expression)"
    )
    + """
(class_declaration) @class
(abstract_class_declaration) @class
(public_field_definition
  value: [(arrow_function) (function_expression) (generator_function)]) @method
(interface_declaration) @interface
(type_alias_declaration) @type
(enum_declaration) @enum
(module) @module
(internal_module) @module
(function_signature) @overload
(method_signature) @overload
"""
)

_GO = """
(function_declaration) @function
(method_declaration) @method
(type_spec type: (struct_type)) @struct
(type_spec type: (interface_type)) @interface
(type_spec) @type
(type_alias) @type
(source_file (const_declaration) @constant)
(source_file (var_declaration) @constant)
(func_literal) @scope
(comment) @attach
(call_expression function: (identifier) @call)
(call_expression function: (selector_expression field: (field_identifier) @call))
(composite_literal type: (type_identifier) @call)
(import_spec) @import
"""

_RUST = """
(function_item) @function
(function_signature_item) @overload
(struct_item) @struct
(union_item) @struct
(enum_item) @enum
(trait_item) @trait
(impl_item) @impl
(mod_item body: (_)) @module
(type_item) @type
(macro_definition) @function
(const_item) @constant
(static_item) @constant
(closure_expression) @scope
(line_comment) @attach
(block_comment) @attach
(attribute_item) @attach
(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call))
(call_expression function: (scoped_identifier name: (identifier) @call))
(call_expression function: (generic_function function: (identifier) @call))
(call_expression function: (generic_function function:
  (scoped_identifier name: (identifier) @call)))
(macro_invocation macro: (identifier) @call)
(struct_expression name: (type_identifier) @call)
(use_declaration) @import
(mod_item !body) @import
"""

_JAVA = """
(method_declaration) @method
(constructor_declaration) @method
(compact_constructor_declaration) @method
(class_declaration) @class
(record_declaration) @class
(interface_declaration) @interface
(annotation_type_declaration) @interface
(enum_declaration) @enum
(object_creation_expression (class_body)) @scope
(lambda_expression) @scope
(line_comment) @attach
(block_comment) @attach
(method_invocation name: (identifier) @call)
(object_creation_expression type: (type_identifier) @call)
(object_creation_expression type: (generic_type (type_identifier) @call))
(marker_annotation name: (identifier) @call)
(annotation name: (identifier) @call)
(import_declaration) @import
"""

_C = """
(function_definition) @function
(struct_specifier name: (_) body: (_)) @struct
(union_specifier name: (_) body: (_)) @struct
(enum_specifier name: (_) body: (_)) @enum
(type_definition type: (struct_specifier body: (_))) @struct
(type_definition type: (union_specifier body: (_))) @struct
(type_definition type: (enum_specifier body: (_))) @enum
(preproc_function_def) @function
(translation_unit (declaration declarator: (init_declarator value: (initializer_list))) @constant)
(comment) @attach
(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call))
(preproc_include path: (_) @import)
"""

_ONLY_CPP = """
(class_specifier name: (_) body: (_)) @class
(namespace_definition) @module
(template_declaration) @wrap
(concept_definition) @type
(alias_declaration) @type
(lambda_expression) @scope
(call_expression function: (qualified_identifier name: (identifier) @call))
(call_expression function: (qualified_identifier name: (qualified_identifier
  name: (identifier) @call)))
(call_expression function: (template_function name: (identifier) @call))
(new_expression type: (type_identifier) @call)
(using_declaration) @import
"""

_CSHARP = """
(method_declaration) @method
(constructor_declaration) @method
(destructor_declaration) @method
(operator_declaration) @method
(indexer_declaration) @method
(local_function_statement) @function
(property_declaration accessors: (accessor_list (accessor_declaration body: (_)))) @method
(class_declaration) @class
(record_declaration) @class
(struct_declaration) @struct
(interface_declaration) @interface
(enum_declaration) @enum
(delegate_declaration) @type
(namespace_declaration) @module
(lambda_expression) @scope
(anonymous_method_expression) @scope
(comment) @attach
(invocation_expression function: (identifier) @call)
(invocation_expression function: (generic_name (identifier) @call))
(invocation_expression function: (member_access_expression name: (identifier) @call))
(invocation_expression function: (member_access_expression
  name: (generic_name (identifier) @call)))
(object_creation_expression type: (identifier) @call)
(object_creation_expression type: (generic_name (identifier) @call))
(attribute name: (identifier) @call)
(using_directive) @import
"""

_RUBY = """
(method) @method
(singleton_method) @method
(class) @class
(module) @module
(program (assignment left: (constant)) @constant)
(do_block) @scope
(lambda) @scope
(comment) @attach
(call method: (identifier) @call)
(call receiver: (constant) @call)
"""

_PHP = """
(function_definition) @function
(method_declaration) @method
(class_declaration) @class
(interface_declaration) @interface
(trait_declaration) @trait
(enum_declaration) @enum
(namespace_definition body: (_)) @module
(anonymous_function) @scope
(comment) @attach
(function_call_expression function: (name) @call)
(function_call_expression function: (qualified_name (name) @call))
(member_call_expression name: (name) @call)
(nullsafe_member_call_expression name: (name) @call)
(scoped_call_expression name: (name) @call)
(object_creation_expression (name) @call)
(object_creation_expression (qualified_name (name) @call))
(namespace_use_declaration) @import
(require_expression) @import
(require_once_expression) @import
(include_expression) @import
(include_once_expression) @import
"""

_BASH = """
(function_definition) @function
(comment) @attach
(command name: (command_name) @call)
"""

TABLES = {
    "python": Table("tree_sitter_python", "language", _PYTHON),
    "javascript": Table(
        "tree_sitter_javascript", "language", _JAVASCRIPT + _ONLY_JAVASCRIPT + _JSX
    ),
    "typescript": Table("tree_sitter_typescript", "language_typescript", _TYPESCRIPT),
    "tsx": Table("tree_sitter_typescript", "language_tsx", _TYPESCRIPT + _JSX),
    "go": Table("tree_sitter_go", "language", _GO),
    "rust": Table("tree_sitter_rust", "language", _RUST),
    "java": Table("tree_sitter_java", "language", _JAVA),
    "c": Table("tree_sitter_c", "language", _C),
    "cpp": Table("tree_sitter_cpp", "language", _C + _ONLY_CPP),
    "csharp": Table("tree_sitter_c_sharp", "language", _CSHARP),
    "ruby": Table("tree_sitter_ruby", "language", _RUBY),
    "php": Table("tree_sitter_php", "language_php", _PHP),
    "bash": Table("tree_sitter_bash", "language", _BASH),
}
