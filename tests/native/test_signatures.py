"""Which functions, with which parameters, are read out of C++ text."""

import keyword

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.native._signatures import signatures

POINTERS = {
    "float*": "float32",
    "const float * __restrict__": "float32",
    "double const*restrict": "float64",
    "std::int64_t*": "int64",
    "const ::std::uint8_t*": "uint8",
    "long long *": "int64",
    "unsigned short*": "uint16",
    "_Float16*": "float16",
    "const __bf16*": "bfloat16",
    "bool*": "bool",
    "char*": "char",
    "void*": "void",
    "const __m256*": None,
    "std::complex<float>*": None,
    "std::pair<int, float>*": None,
    "float**": None,
}
SCALARS = {
    "int": ("integer", "int32"),
    "const int": ("integer", "int32"),
    "unsigned": ("integer", "uint32"),
    "unsigned long int": ("integer", "uint64"),
    "long unsigned": ("integer", "uint64"),
    "std::size_t": ("integer", "uint64"),
    "int8_t": ("integer", "int8"),
    "float": ("float", "float32"),
    "const double": ("float", "float64"),
    "bool": ("bool", "bool"),
    "half": ("unknown", "float16"),
    "_Float16": ("unknown", "float16"),
    "long double": ("unknown", None),
    "float&": ("unknown", None),
    "std::vector<float>": ("unknown", None),
}
NOISE = [
    " ",
    "\n",
    "\t ",
    '/* } extern "C" void hidden(int a) { */',
    "// ) { \" '\n",
    "\n#pragma GCC unroll 4\n",
    "\n#ifdef NEVER_MIND\n#endif\n",
]
BODIES = [
    "{}",
    "{ if (1) { } }",
    '{ const char* s = "}{"; (void)s; }',
    "{ char c = '}'; int n = 1'000; if (n) { n = 2'000; } }",
    '{ auto s = R"x(extern "C" void fake(int a) {)x"; }',
]
BEFORE = [
    "",
    '__attribute__((visibility("default")))',
    "[[gnu::hot]]",
    '__attribute__((target("avx2"), hot))',
]

identifiers = st.from_regex(r"[a-z][a-z0-9_]{2,9}", fullmatch=True).filter(
    lambda name: (
        not keyword.iskeyword(name)
        and name
        not in {"int", "long", "short", "char", "float", "double", "bool", "void", "half", "const", "auto"}
        | {
            "signed",
            "unsigned",
            "static",
            "inline",
            "extern",
            "struct",
            "class",
            "enum",
            "union",
            "register",
        }
        | {
            "volatile",
            "restrict",
            "typename",
            "using",
            "typedef",
            "namespace",
            "constexpr",
            "consteval",
            "throw",
        }
        | {"alignas", "noexcept", "operator"}
    )
)
pointers = st.sampled_from(sorted(POINTERS)).map(lambda text: (text, "pointer", POINTERS[text]))
scalars = st.sampled_from(sorted(SCALARS)).map(lambda text: (text, *SCALARS[text]))
parameters = st.lists(st.tuples(st.one_of(pointers, scalars), identifiers), max_size=5)
noise = st.sampled_from(NOISE)


def only(text):
    (signature,) = signatures(text).values()
    return signature


def shape(signature):
    return [(parameter.name, parameter.type.kind, parameter.type.scalar) for parameter in signature.parameters]


@st.composite
def functions(draw):
    """A function definition written in some odd way, with its name and the shape it should have."""
    name, chosen = draw(identifiers), draw(parameters)
    gap = draw(noise)
    inside = f"{gap},{gap}".join(f"{spelling}{gap} {called}" for (spelling, _, _), called in chosen)
    head = f"{draw(st.sampled_from(BEFORE))}{gap} void {gap}{name}{gap}({gap}{inside}{gap})"
    tail = draw(st.sampled_from(["", " noexcept", " noexcept(true)"]))
    expected = [(called, kind, scalar) for (_, kind, scalar), called in chosen]
    return name, f"{head}{tail}{gap}{draw(st.sampled_from(BODIES))}", expected


@given(st.lists(functions(), min_size=1, max_size=3, unique_by=lambda made: made[0]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_formatting_never_changes_what_is_read(made, in_a_block):
    if in_a_block:
        text = 'extern "C" {\n' + "\n".join(source for _, source, _ in made) + "\n}"
    else:
        text = "\n".join(f'extern "C" {source}' for _, source, _ in made)
    read = signatures(text)
    assert {name: shape(signature) for name, signature in read.items()} == {
        name: expected for name, _, expected in made
    }


PIECES = r"""
extern "C" { } ( ) [ < > * , ; = :: -> void f int using typedef namespace A " ' /* // R"( \ #define #if
#else #endif
"""
fragments = st.sampled_from([*PIECES.split(), "\n", "\\\n", "#define A A B\n", "#if 0\n"])


@given(st.one_of(st.text(max_size=80), st.lists(fragments, max_size=25).map(" ".join)))
@settings(max_examples=200, deadline=None)
def test_no_text_breaks_the_reader(text):
    assert isinstance(signatures(text), dict)


@pytest.mark.parametrize(
    "text",
    [
        "void plain(int a) {}",
        'extern "C" void declared(int a);',
        'extern "C" static void local(int a) {}',
        'extern "C" { static inline float helper(float a) { return a; } }',
        'extern "C" { constexpr int folded(int a) { return a; } }',
        'extern "C" { int table[] = {1, 2}; struct Pair { int a; int sum(int b) { return a + b; } }; }',
        'extern "C++" void mangled(int a) {}',
        'const char* text = "extern \\"C\\" void quoted(int a) {}";',
        '// extern "C" void commented(int a) {}',
        '#if 0\nextern "C" void disabled(int a) {}\n#endif',
    ],
)
def test_what_the_library_will_not_export_is_not_read(text):
    assert signatures(text) == {}


def test_a_declaration_does_not_hide_the_definition_that_follows():
    assert shape(only('extern "C" void f(int a);\nextern "C" void f(int count) {}')) == [("count", "integer", "int32")]


def test_bodies_are_not_searched_for_functions_of_the_block():
    text = 'extern "C" { void f(int n) { struct Local { void run(int a) {} }; } void g() {} }'
    assert list(signatures(text)) == ["f", "g"]


def test_namespaces_in_a_block_are_entered():
    assert list(signatures('extern "C" { namespace inner { void f(int n) {} } }')) == ["f"]


def test_a_macro_may_stand_for_the_linkage():
    text = '#define EXPORT extern "C" \\\n  __attribute__((visibility("default")))\nEXPORT void f(int n) {}'
    assert list(signatures(text)) == ["f"]


def test_the_first_branch_of_a_conditional_is_read_and_braces_of_the_others_do_not_count():
    text = """
    extern "C" void f(int n) {
    #ifdef __AVX512F__
        for (;;) {
    #else
        for (int i = 0;;) {
    #endif
        }
    }
    extern "C" void g(float a) {}
    """
    assert list(signatures(text)) == ["f", "g"]


def test_names_given_to_types_are_looked_through():
    text = """
    using index = std::int64_t;
    typedef const float* values;
    using namespace std;
    extern "C" void f(values x, index n) {}
    """
    assert shape(only(text)) == [("x", "pointer", "float32"), ("n", "integer", "int64")]


def test_a_type_name_with_two_meanings_stays_unknown():
    text = 'struct A { using T = float; }; struct B { using T = int; }; extern "C" void f(T a) {}'
    assert shape(only(text)) == [("a", "unknown", None)]


def test_parameters_without_a_name_are_numbered():
    assert shape(only('extern "C" void f(const float*, int64_t) {}')) == [
        ("arg0", "pointer", "float32"),
        ("arg1", "integer", "int64"),
    ]


def test_arrays_are_pointers_and_defaults_are_dropped():
    assert shape(only('extern "C" void f(float x[], int n[4], float eps = 1e-5f) {}')) == [
        ("x", "pointer", "float32"),
        ("n", "pointer", "int32"),
        ("eps", "float", "float32"),
    ]


def test_a_function_pointer_is_not_taken_for_data():
    (parameter,) = only('extern "C" void f(void (*callback)(int)) {}').parameters
    assert parameter.type.kind == "unknown"


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        ("void f(void)", "void"),
        ("long f()", "integer"),
        ("auto f() -> double", "float"),
        ("float* f()", "pointer"),
    ],
)
def test_return_types_are_read(head, kind):
    assert only(f'extern "C" {head} {{}}').returns.kind == kind
