import { additionalSchemaOf, hasProperties, propertyOf, type Schema } from './node.ts';

/** Where a path such as `.spec.color` or `.spec['my.color']` leads in a schema. */
export type FieldReference =
  | { readonly kind: 'found'; readonly names: readonly string[]; readonly schema: Schema }
  | { readonly kind: 'wrong'; readonly why: string };

const TOKENS = /'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/g;
const NO_FIELD = 'does not refer to a valid field';
const END = 'unexpected end of JSON path';

/** `arrays`: whether names in brackets are allowed. */
export function followFieldReference(jsonPath: string, root: Schema, arrays: boolean): FieldReference {
  const tokens = jsonPath.match(TOKENS) ?? [];
  const names: string[] = [];
  let schema = root;
  for (let at = 0; at < tokens.length; ) {
    const step = nameAt(tokens, at, arrays);
    if (typeof step === 'string') return { kind: 'wrong', why: step };
    const next = childOf(schema, step.name);
    if (next === undefined) return { kind: 'wrong', why: NO_FIELD };
    names.push(step.name);
    schema = next;
    at += step.tokens;
  }
  return { kind: 'found', names, schema };
}

/** The name that begins at a token, or what is wrong with it. */
function nameAt(
  tokens: readonly string[],
  at: number,
  arrays: boolean,
): { readonly name: string; readonly tokens: number } | string {
  const [first = '', name, close] = tokens.slice(at, at + 3);
  if (first === '.') return name === undefined ? END : { name, tokens: 2 };
  if (first !== '[') return `expected [ or . but got: ${first}`;
  if (!arrays) return 'array notation is not allowed';
  if (name === undefined) return END;
  if (!/^'.*'$/s.test(name) || name.length < 2) return `expected single quoted string but got ${name}`;
  if (close === undefined) return END;
  return close === ']'
    ? { name: name.slice(1, -1).replace(/\\(.)/g, '$1'), tokens: 3 }
    : `expected ] but got ${close}`;
}

const childOf = (schema: Schema, name: string): Schema | undefined =>
  hasProperties(schema) ? propertyOf(schema, name) : additionalSchemaOf(schema);
