//! Templates: text with expressions between `{{` and `}}`.

use std::collections::HashMap;

use crate::expression::{self, DEPTH, Names, Text, Value};

/// The names that expressions may use: templates of the file, and the dimensions or arguments of one expansion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    templates: &'a HashMap<String, String>,
    own: &'a [(String, Value)],
}

impl<'a> Scope<'a> {
    pub(crate) fn new(templates: &'a HashMap<String, String>, own: &'a [(String, Value)]) -> Self {
        Self { templates, own }
    }

    /// Returns the text of a template.
    ///
    /// # Errors
    /// The template, and what is wrong in it.
    pub(crate) fn expand(&self, template: &str) -> Text<String> {
        self.expanded(template, DEPTH).map_err(|why| format!("the template {:.200?}: {why}", template))
    }

    fn expanded(&self, template: &str, depth: usize) -> Text<String> {
        let mut out = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once("{{") {
            let (inside, behind) = after.split_once("}}").ok_or("a }} is missing")?;
            out.push_str(before);
            out.push_str(&expression::value(inside, self, depth)?.text());
            rest = behind;
        }
        if rest.contains("{%") || rest.contains("{#") {
            return Err("statements and comments are not supported".to_owned());
        }
        out.push_str(rest);
        Ok(out)
    }
}

impl Names for Scope<'_> {
    fn value(&self, name: &str) -> Text<Value> {
        if let Some((_, value)) = self.own.iter().find(|(own, _)| own == name) {
            return Ok(value.clone());
        }
        match self.templates.get(name) {
            Some(text) if text.contains("{{") => {
                Err(format!("the template {name:?} has parameters: call it as {name}(…)"))
            }
            Some(text) => Ok(Value::Text(text.clone())),
            None => Err(format!("{name:?} is neither a template nor a dimension")),
        }
    }

    /// A template with parameters sees the arguments and the other templates.
    fn call(&self, name: &str, arguments: &[(String, Value)], depth: usize) -> Text<Value> {
        let text = self.templates.get(name).ok_or_else(|| format!("there is no template {name:?}"))?;
        Scope::new(self.templates, arguments).expanded(text, depth).map(Value::Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(template: &str) -> Text<String> {
        let named = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
        let templates = HashMap::from(
            [("u", "s3://b"), ("f", "{{u}}/{{c}}-{{n + 1}}"), ("again", "{{again(c=1)}}")].map(named),
        );
        let own = [("i".to_owned(), Value::Integer(7)), ("t".to_owned(), Value::Text("x".to_owned()))];
        Scope::new(&templates, &own).expand(template)
    }

    #[test]
    fn expressions_have_the_values_that_jinja_gives_them() {
        for (template, text) in [
            ("plain } {", "plain } {"),
            ("{{u}}/{{ i }}.nc", "s3://b/7.nc"),
            ("{{f(c='raw', n=i)}}", "s3://b/raw-8"),
            ("{{f(n=2*i,c=t,)}}", "error"),
            ("{{128 + (i * 4 + 1) * 8}}", "360"),
            ("{{i // 2}} {{-i // 2}} {{i % 4}} {{-i % 4}} {{i // -2}}", "3 -4 3 1 -4"),
            ("{{i - 2 - 1}} {{2 + 3 * 4}} {{--i}}", "4 14 7"),
            ("{{\"q'q\"}}{{''}}", "q'q"),
        ] {
            match text {
                "error" => assert!(expand(template).is_err(), "{template}"),
                text => assert_eq!(expand(template).as_deref(), Ok(text), "{template}"),
            }
        }
    }

    #[test]
    fn everything_else_is_an_error_that_shows_the_template() {
        let deep = format!("{{{{{}1{}}}}}", "(".repeat(100), ")".repeat(100));
        let signs = format!("{{{{{}1}}}}", "-".repeat(10_000));
        for (template, why) in [
            ("{{", "}} is missing"),
            ("{{x}}", "\"x\" is neither"),
            ("{{}}", "ends too early"),
            ("{{i +}}", "ends too early"),
            ("{{t + 1}}", "\"x\" is not an integer"),
            ("{{i / 2}}", "\"/ 2\" is not understood"),
            ("{{i | upper}}", "is not understood"),
            ("{{i.real}}", "is not understood"),
            ("{{u()}}", ""),
            ("{{f(1)}}", "name=value"),
            ("{{f(c=1}}", "a , or ) is missing"),
            ("{{f}}", "has parameters"),
            ("{{g(c=1)}}", "no template \"g\""),
            ("{{again(c=1)}}", "nested too deeply"),
            ("{{'a\\'}}", "escapes"),
            ("{{'a}}", "a ' is missing"),
            ("{{1 // 0}}", "out of range"),
            ("{{1 % 0}}", "out of range"),
            ("{{12x}}", "\"12x\" is not an integer"),
            ("{{170141183460469231731687303715884105727 + 1}}", "out of range"),
            ("{{(1}}", "a ) is missing"),
            ("{% if i %}a", "statements"),
            (&deep, "nested too deeply"),
            (&signs, "nested too deeply"),
        ] {
            match (expand(template), why) {
                (Ok(text), "") => assert_eq!(text, "s3://b"),
                (Ok(text), _) => panic!("{template}: {text}"),
                (Err(e), _) => {
                    assert!(e.starts_with("the template ") && e.contains(why), "{template:.60}: {e}")
                }
            }
        }
    }
}
