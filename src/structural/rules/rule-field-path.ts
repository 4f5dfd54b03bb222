import { additionalSchemaOf, propertyOf, type Schema } from '../schema-node.ts';

/** `fieldPath` of a rule: the path of its errors below the validated value. */

/** Quoted names, dots, brackets, and the text between. */
const TOKENS = /'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/g;
const ESCAPE = /\\(.)/gs;
const ESCAPED: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** `.spec['my.key']` → `spec.my.key` for a field, `spec[my.key]` for an entry. Undefined: there is no such field. */
export function pathOfRule(fieldPath: string, schema: Schema): string | undefined {
  const tokens = fieldPath.match(TOKENS) ?? [];
  let path = '';
  let at: Schema | undefined = schema;
  for (let next = 0; next < tokens.length; ) {
    const isDotted = tokens[next] === '.';
    const token = tokens[next + 1];
    if (at === undefined || token === undefined) return undefined;
    const name: string = isDotted
      ? token
      : token.slice(1, -1).replace(ESCAPE, (_, one) => ESCAPED[one] ?? one);
    const { properties }: Schema = at;
    path += properties === undefined ? `[${name}]` : path === '' ? name : `.${name}`;
    at = properties === undefined ? additionalSchemaOf(at) : propertyOf(at, name);
    next += isDotted ? 2 : 3;
  }
  return at === undefined ? undefined : path;
}
