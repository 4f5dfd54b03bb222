/** Finds the code in the text of an expression, outside of literals and comments. */

/** String literals and comments of a CEL expression (cel-spec, langdef, section Syntax), raw strings first. */
const LITERALS =
  /[bB]?[rR][bB]?(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"[^"\n]*"|'[^'\n]*')|"""(?:\\[\s\S]|[^\\])*?"""|'''(?:\\[\s\S]|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\/[^\n]*/g;

/** Changes the code in an expression, not its strings and comments. */
export function mapCode(expression: string, change: (code: string) => string): string {
  let mapped = '';
  let from = 0;
  for (const { 0: literal, index } of expression.matchAll(LITERALS)) {
    mapped += change(expression.slice(from, index)) + literal;
    from = index + literal.length;
  }
  return mapped + change(expression.slice(from));
}

/** Whether the code selects `variable.field` or `variable.?field` anywhere. */
export function selectsField(expression: string, variable: string, field: string): boolean {
  const selection = new RegExp(`(?<![\\w.])${variable}\\s*\\.\\s*\\??\\s*${field}\\b`);
  let found = false;
  mapCode(expression, (code) => {
    found ||= selection.test(code);
    return code;
  });
  return found;
}
