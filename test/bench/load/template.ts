/** What a template's placeholders stand for in one request. */
export interface Values {
  /** `$N`: the number of the object. `$M`: the same modulo the number of nodes, for which one it is on. */
  readonly object: number;
  /** 1,000 by default. */
  readonly nodes?: number;
  /** `$S`: a number that no other request of this process has. */
  readonly sequence?: number;
  /** `$V`: the object's resourceVersion, as last seen. */
  readonly version?: string;
  /** `$U`: the object's uid. */
  readonly uid?: string;
}

export type Template = (values: Values) => string;

/**
 * `"name":"pod-$N"` with object 7 is `"name":"pod-7"`. Further placeholders: `$T`, the time with microseconds as leases
 * have it. Split once, so that a request costs no more than joining the pieces.
 */
export function compileTemplate(text: string): Template {
  const [first = '', ...pieces] = text.split(/\$([NMSVTU])/);
  if (pieces.length === 0) return () => text;
  return (values) => {
    let filled = first;
    for (let at = 0; at < pieces.length; at += 2) filled += fill(pieces[at], values) + (pieces[at + 1] ?? '');
    return filled;
  };
}

function fill(
  placeholder: string | undefined,
  { object, nodes = 1000, sequence = 0, version = '', uid = '' }: Values,
): string | number {
  switch (placeholder) {
    case 'N':
      return object;
    case 'M':
      return object % nodes;
    case 'S':
      return sequence;
    case 'V':
      return version;
    case 'U':
      return uid;
    default:
      return new Date().toISOString().replace('Z', '000Z');
  }
}
