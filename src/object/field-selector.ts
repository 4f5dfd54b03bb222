import { SelectorError } from './label-selector.ts';

/** Field selectors (apimachinery, pkg/fields): `metadata.name=web,status.phase!=Running`. Backslash escapes `\`, `,` and `=`. */
export interface FieldRequirement {
  readonly field: string;
  readonly negated: boolean;
  readonly value: string;
}

/** @throws SelectorError */
export function parseFieldSelector(text: string): FieldRequirement[] {
  return splitTerms(text)
    .filter((term) => term !== '')
    .map((term) => {
      const match = /^((?:[^\\=!]|\\.)*)(!=|==|=)(.*)$/s.exec(term);
      if (match === null) throw new SelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
      const [, field = '', operator, value = ''] = match;
      return { field: field.trim(), negated: operator === '!=', value: unescapeValue(value, text) };
    });
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let term = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\\') {
      term += char + (text[at + 1] ?? '');
      at += 1;
    } else if (char === ',') {
      terms.push(term);
      term = '';
    } else term += char;
  }
  return [...terms, term];
}

function unescapeValue(value: string, text: string): string {
  if (/(^|[^\\])(\\\\)*[,=]/.test(value))
    throw new SelectorError(`invalid selector: '${text}'; can't understand '${value}'`);
  return value.replace(/\\(.)/gs, (_, char: string) => {
    if (char === '\\' || char === ',' || char === '=') return char;
    throw new SelectorError(`invalid field selector: invalid escape sequence: \\${char}`);
  });
}

export function matchesFields(
  requirements: readonly FieldRequirement[],
  fields: Readonly<Record<string, string>>,
): boolean {
  return requirements.every(({ field, negated, value }) => ((fields[field] ?? '') === value) !== negated);
}

/** The one value a field must have, when the selector says so. */
export function requiredValue(requirements: readonly FieldRequirement[], field: string): string | undefined {
  return requirements.find((requirement) => requirement.field === field && !requirement.negated)?.value;
}
