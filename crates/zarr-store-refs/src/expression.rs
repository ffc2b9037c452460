//! The expressions between `{{` and `}}` of a template: the part of the language of Jinja that references use.
//!
//! Names, integers, quoted text, calls with named arguments, `+ - * // %` on integers, and parentheses.

/// The result of a part of a template. The error says why, without the template.
pub(crate) type Text<T> = Result<T, String>;

/// What names in expressions mean.
pub(crate) trait Names {
    /// Returns the value of a name.
    fn value(&self, name: &str) -> Text<Value>;

    /// Returns the value of a call with named arguments, which may be nested `depth` levels deep.
    fn call(&self, name: &str, arguments: &[(String, Value)], depth: usize) -> Text<Value>;
}

/// The nesting of parentheses, calls and templates that is accepted.
pub(crate) const DEPTH: usize = 32;

/// A value of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Integer(i128),
    Text(String),
}

impl Value {
    fn integer(self) -> Text<i128> {
        match self {
            Self::Integer(value) => Ok(value),
            Self::Text(text) => Err(format!("{text:?} is not an integer")),
        }
    }

    pub(crate) fn text(self) -> String {
        match self {
            Self::Integer(value) => value.to_string(),
            Self::Text(text) => text,
        }
    }
}

/// Returns the value of an expression.
pub(crate) fn value(text: &str, names: &dyn Names, depth: usize) -> Text<Value> {
    let mut parser = Parser { rest: text, names, depth };
    let value = parser.sum()?;
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(format!("{:?} is not understood", parser.rest)),
    }
}

struct Parser<'a> {
    rest: &'a str,
    names: &'a dyn Names,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Takes a sign or operator, if it comes next.
    fn takes(&mut self, sign: &str) -> bool {
        self.rest = self.rest.trim_start();
        self.rest.strip_prefix(sign).map(|rest| self.rest = rest).is_some()
    }

    fn sum(&mut self) -> Text<Value> {
        let mut value = self.product()?;
        loop {
            let operation = match () {
                () if self.takes("+") => i128::checked_add,
                () if self.takes("-") => i128::checked_sub,
                () => return Ok(value),
            };
            value = apply(operation, value, self.product()?)?;
        }
    }

    fn product(&mut self) -> Text<Value> {
        let mut value = self.factor()?;
        loop {
            let operation = match () {
                () if self.takes("//") => floor_div,
                () if self.takes("*") => i128::checked_mul,
                () if self.takes("%") => floor_mod,
                () => return Ok(value),
            };
            value = apply(operation, value, self.factor()?)?;
        }
    }

    fn factor(&mut self) -> Text<Value> {
        self.depth = self.depth.checked_sub(1).ok_or("nested too deeply")?;
        let value = self.factor_within();
        self.depth += 1;
        value
    }

    fn factor_within(&mut self) -> Text<Value> {
        match self.peek() {
            Some('-') => {
                self.takes("-");
                apply(i128::checked_sub, Value::Integer(0), self.factor()?)
            }
            Some('(') => {
                self.takes("(");
                let value = self.sum()?;
                if self.takes(")") { Ok(value) } else { Err("a ) is missing".to_owned()) }
            }
            Some(quote @ ('\'' | '"')) => {
                let (text, rest) =
                    self.rest[1..].split_once(quote).ok_or_else(|| format!("a {quote} is missing"))?;
                if text.contains('\\') {
                    return Err("escapes in quoted text are not supported".to_owned());
                }
                self.rest = rest;
                Ok(Value::Text(text.to_owned()))
            }
            Some(digit) if digit.is_ascii_digit() => {
                let digits = self.word();
                digits.parse().map(Value::Integer).map_err(|_| format!("{digits:?} is not an integer"))
            }
            Some(letter) if letter.is_alphabetic() || letter == '_' => {
                let name = self.word();
                if !self.takes("(") {
                    return self.names.value(&name);
                }
                let arguments = self.arguments()?;
                self.names.call(&name, &arguments, self.depth)
            }
            Some(_) => Err(format!("{:?} is not understood", self.rest)),
            None => Err("the expression ends too early".to_owned()),
        }
    }

    /// Takes letters, digits and underscores.
    fn word(&mut self) -> String {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    /// Takes named arguments up to the closing parenthesis.
    fn arguments(&mut self) -> Text<Vec<(String, Value)>> {
        let mut arguments = Vec::new();
        while !self.takes(")") {
            if !arguments.is_empty() && !self.takes(",") {
                return Err("a , or ) is missing".to_owned());
            }
            self.peek();
            let name = self.word();
            if name.is_empty() || !self.takes("=") {
                return Err("an argument must be name=value".to_owned());
            }
            arguments.push((name, self.sum()?));
        }
        Ok(arguments)
    }
}

fn apply(operation: fn(i128, i128) -> Option<i128>, left: Value, right: Value) -> Text<Value> {
    let result = operation(left.integer()?, right.integer()?);
    result.map(Value::Integer).ok_or_else(|| "the result is out of range".to_owned())
}

/// Division that rounds down, as in Python.
fn floor_div(left: i128, right: i128) -> Option<i128> {
    let quotient = left.checked_div(right)?;
    let is_below = left.checked_rem(right)? != 0 && (left < 0) != (right < 0);
    quotient.checked_sub(i128::from(is_below))
}

/// The remainder of [`floor_div`], which has the sign of the divisor.
fn floor_mod(left: i128, right: i128) -> Option<i128> {
    left.checked_sub(floor_div(left, right)?.checked_mul(right)?)
}
