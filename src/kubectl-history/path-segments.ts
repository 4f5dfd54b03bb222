/** Paths of fields, as in changes and blames: `spec.containers[name=web].image`, `metadata.labels["a.example/b"]`. */

export type Segment =
  | { readonly kind: 'field'; readonly name: string }
  /** The text in the brackets: `name=web`, `0`. */
  | { readonly kind: 'element'; readonly key: string };

const FIELD = /^\.?([A-Za-z_][A-Za-z0-9_-]*)/;
const QUOTED = /^\[("(?:[^"\\]|\\.)*")\]/;
/** Values may contain brackets: an element ends before a field, another bracket or the end. */
const ELEMENT = /^\[([^"](?:.*?))\](?=$|[.[])/s;

/** Undefined: the path is invalid. */
export function parsePath(path: string): readonly Segment[] | undefined {
  const segments: Segment[] = [];
  let rest = path;
  while (rest !== '') {
    const [match = '', name, quoted, key] = matchSegment(rest);
    if (match === '') return undefined;
    const text = quoted === undefined ? name : unquote(quoted);
    if (text === undefined && key === undefined) return undefined;
    segments.push(text === undefined ? { kind: 'element', key: key ?? '' } : { kind: 'field', name: text });
    rest = rest.slice(match.length);
  }
  return segments;
}

type Matched = readonly [
  match?: string,
  name?: string | undefined,
  quoted?: string | undefined,
  key?: string | undefined,
];

function matchSegment(rest: string): Matched {
  const field = FIELD.exec(rest);
  if (field !== null) return [field[0], field[1]];
  const quoted = QUOTED.exec(rest);
  if (quoted !== null) return [quoted[0], undefined, quoted[1]];
  const element = ELEMENT.exec(rest);
  return element === null ? [] : [element[0], undefined, undefined, element[1]];
}

function unquote(json: string): string | undefined {
  try {
    const text: unknown = JSON.parse(json);
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a field equals a path or is below it. */
export function isWithin(path: string, outer: string): boolean {
  const asked = outer.replace(/^\./, '');
  return path === asked || (path.startsWith(asked) && /^[.[]/.test(path.slice(asked.length)));
}
