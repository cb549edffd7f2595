//! Plain WGSL in languages that are written like C, word by word, with its comments.
//!
//! This is no general translator: it knows what the functions of `shaders/attributes/` use, and
//! tests compile what it writes.

/// The words of a language.
pub(crate) struct Dialect {
    /// Words of WGSL, and what they are called.
    words: &'static [(&'static str, &'static str)],
    /// True if what is indexed in the functions is a texture.
    has_textures: bool,
}

const GLSL_WORDS: &[(&str, &str)] = &[
    ("f32", "float"),
    ("u32", "uint"),
    ("vec2u", "uvec2"),
    ("vec3f", "vec3"),
    ("vec4f", "vec4"),
    ("vec4u", "uvec4"),
];

const METAL_WORDS: &[(&str, &str)] = &[
    ("f32", "float"),
    ("u32", "uint"),
    ("vec2u", "uint2"),
    ("vec3f", "float3"),
    ("vec4f", "float4"),
    ("vec4u", "uint4"),
];

const HLSL_WORDS: &[(&str, &str)] = &[
    ("f32", "float"),
    ("u32", "uint"),
    ("vec2u", "uint2"),
    ("vec3f", "float3"),
    ("vec4f", "float4"),
    ("vec4u", "uint4"),
    ("mix", "lerp"),
];

impl Dialect {
    pub(crate) const GLSL: Dialect = Dialect {
        words: GLSL_WORDS,
        has_textures: false,
    };
    pub(crate) const GLSL_WITH_TEXTURES: Dialect = Dialect {
        words: GLSL_WORDS,
        has_textures: true,
    };
    pub(crate) const HLSL: Dialect = Dialect {
        words: HLSL_WORDS,
        has_textures: false,
    };
    pub(crate) const METAL: Dialect = Dialect {
        words: METAL_WORDS,
        has_textures: false,
    };

    fn word<'a>(&self, word: &'a str) -> &'a str {
        let known = self.words.iter().find(|(wgsl, _)| *wgsl == word);
        known.map_or(word, |(_, own)| own)
    }
}

/// What is indexed in the functions, and is a texture in languages without storage buffers.
const INDEXED: [&str; 2] = ["palette[", "mush["];

/// Translates functions and structs.
pub(crate) fn translated(wgsl: &str, dialect: &Dialect) -> String {
    let mut text = String::new();
    let mut lines = wgsl.lines();
    let mut in_struct = false;
    while let Some(line) = lines.next() {
        let written = if line.trim_start().starts_with("//") {
            line.to_owned()
        } else if line.starts_with("fn ") {
            let mut header = line.to_owned();
            while !header.ends_with('{') {
                let Some(more) = lines.next() else { break };
                header.push('\n');
                header.push_str(more);
            }
            with_words(&function_header(&header), dialect)
        } else if in_struct && line == "}" {
            in_struct = false;
            "};".to_owned()
        } else if in_struct {
            let field = line.trim().trim_end_matches(',');
            format!("    {};", with_words(&declaration(field), dialect))
        } else {
            in_struct = line.starts_with("struct ");
            with_words(&fetched(&statement(line), dialect), dialect)
        };
        text.push_str(&written);
        text.push('\n');
    }
    text
}

/// `name: type` as `type name`.
fn declaration(typed_name: &str) -> String {
    match typed_name.split_once(": ") {
        Some((name, kind)) => format!("{kind} {name}"),
        None => typed_name.to_owned(),
    }
}

/// `fn name(a: A, b: B) -> R {` as `R name(A a, B b) {`, on as many lines as before.
fn function_header(header: &str) -> String {
    let parts = header.strip_prefix("fn ").and_then(|header| {
        let (name, rest) = header.split_once('(')?;
        let (parameters, result) = rest.split_once(") -> ")?;
        Some((name, parameters, result.strip_suffix(" {")?))
    });
    let Some((name, parameters, result)) = parts else {
        return header.to_owned();
    };
    let on_lines = parameters.starts_with('\n');
    let parameters = parameters.trim().trim_end_matches(',').split(',');
    let parameters = parameters.map(|parameter| declaration(parameter.trim()));
    let parameters: Vec<String> = parameters.collect();
    match on_lines {
        true => format!("{result} {name}(\n    {}\n) {{", parameters.join(",\n    ")),
        false => format!("{result} {name}({}) {{", parameters.join(", ")),
    }
}

/// A statement whose variable, if it declares one, is declared as in C.
fn statement(line: &str) -> String {
    for keyword in ["let ", "var "] {
        let Some((before, declared)) = line.split_once(keyword) else {
            continue;
        };
        let end = declared.find(" =").or_else(|| declared.find(';'));
        if let Some((typed_name, after)) = end.map(|end| declared.split_at(end)) {
            return format!("{before}{}{after}", declaration(typed_name));
        }
    }
    line.to_owned()
}

/// `data[index]` as a fetch from a texture, if the language needs that.
fn fetched(line: &str, dialect: &Dialect) -> String {
    if !dialect.has_textures {
        return line.to_owned();
    }
    let found = INDEXED
        .iter()
        .filter_map(|name| Some((line.find(name)?, name)));
    let Some((start, name)) = found.min() else {
        return line.to_owned();
    };
    let index = &line[start + name.len()..];
    let mut depth = 1;
    let end = index.find(|letter| {
        depth += match letter {
            '[' => 1,
            ']' => -1,
            _ => 0,
        };
        depth == 0
    });
    let Some(end) = end else {
        return line.to_owned();
    };
    let data = name.trim_end_matches('[');
    let (inner, rest) = (&index[..end], &index[end + 1..]);
    let (inner, rest) = (fetched(inner, dialect), fetched(rest, dialect));
    format!("{}skin_texel({data}, {inner}){rest}", &line[..start])
}

/// A line whose words are those of the language.
fn with_words(line: &str, dialect: &Dialect) -> String {
    let mut text = String::new();
    let mut rest = line;
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    while !rest.is_empty() {
        let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        text.push_str(dialect.word(word));
        let next = after.find(is_letter).unwrap_or(after.len());
        text.push_str(&after[..next]);
        rest = &after[next..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const WGSL: &str = "\
// A vec3f, with let and f32 in words.
struct Pair {
    a: vec3f,
    b: u32,
}

fn sum(
    one: Pair,
    two: f32,
) -> vec3f {
    var all: Pair;
    for (var i: u32 = 0u; i < one.b; i++) {
        let v: vec4f = palette[2u * u32(mush[i].w) + 1u] + palette[i];
        all.a += mix(v.xyz, one.a, two);
    }
    return all.a;
}
";

    #[test]
    fn declarations_types_and_functions_are_written_as_in_c() {
        assert_eq!(
            translated(WGSL, &Dialect::HLSL),
            "\
// A vec3f, with let and f32 in words.
struct Pair {
    float3 a;
    uint b;
};

float3 sum(
    Pair one,
    float two
) {
    Pair all;
    for (uint i = 0u; i < one.b; i++) {
        float4 v = palette[2u * uint(mush[i].w) + 1u] + palette[i];
        all.a += lerp(v.xyz, one.a, two);
    }
    return all.a;
}
"
        );
    }

    #[test]
    fn what_is_indexed_can_be_a_texture() {
        let text = translated(WGSL, &Dialect::GLSL_WITH_TEXTURES);
        let fetch = "vec4 v = skin_texel(palette, 2u * uint(skin_texel(mush, i).w) + 1u) + \
                     skin_texel(palette, i);";
        assert!(text.contains(fetch), "{text}");
    }
}
