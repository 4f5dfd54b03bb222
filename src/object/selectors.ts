import type { LabelSelector } from '../api/types/meta/v1.ts';

/**
 * Label selectors, in the text form of queries and the object form of specs (apimachinery, pkg/labels).
 *
 *   a=b, a==b, a!=b, a in (x,y), a notin (x,y), a, !a, a>1, a<1     comma: and
 */
export type LabelSet = Readonly<Record<string, string>>;

export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  readonly values: readonly string[];
}

/** The message becomes that of a 400. */
export class SelectorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SelectorError';
  }
}

const MAX_VALUE_CHARS = 63;
const NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export function matchesLabels(requirements: readonly LabelRequirement[], labels: LabelSet): boolean {
  return requirements.every((requirement) => matchesRequirement(requirement, labels));
}

function matchesRequirement({ key, operator, values }: LabelRequirement, labels: LabelSet): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return isInteger(value) && BigInt(value) > BigInt(values[0] ?? 0);
    case 'Lt':
      return isInteger(value) && BigInt(value) < BigInt(values[0] ?? 0);
    default:
      return operator satisfies never;
  }
}

const isInteger = (text: string | undefined): text is string => text !== undefined && /^[+-]?\d+$/.test(text);

/** @throws SelectorError */
export function parseLabelSelector(text: string): LabelRequirement[] {
  const parser = new SelectorParser(text);
  return parser.parse();
}

/** One pass over tokens: names, operators, parentheses and commas. */
class SelectorParser {
  readonly #text: string;
  readonly #tokens: string[];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = text.match(/[(),]|!=|==|=|!|<|>|[^\s(),!=<>]+/g) ?? [];
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    while (this.#at < this.#tokens.length) {
      requirements.push(this.#requirement());
      const next = this.#next();
      if (next === undefined) break;
      if (next !== ',') this.#unexpected(next, "',' or 'end of string'");
      if (this.#at === this.#tokens.length) this.#unexpected('', "identifier after ','");
    }
    return requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }

  #requirement(): LabelRequirement {
    const first = this.#next() ?? '';
    if (first === '!') return { key: this.#key(this.#next() ?? ''), operator: 'DoesNotExist', values: [] };
    const key = this.#key(first);
    const operator = this.#tokens[this.#at];
    if (operator === undefined || operator === ',') return { key, operator: 'Exists', values: [] };
    this.#at += 1;
    return this.#comparison(key, operator);
  }

  #comparison(key: string, operator: string): LabelRequirement {
    switch (operator) {
      case '=':
      case '==':
        return { key, operator: 'In', values: [this.#value()] };
      case '!=':
        return { key, operator: 'NotIn', values: [this.#value()] };
      case 'in':
        return { key, operator: 'In', values: this.#values() };
      case 'notin':
        return { key, operator: 'NotIn', values: this.#values() };
      case '>':
      case '<':
        return { key, operator: operator === '>' ? 'Gt' : 'Lt', values: [this.#integer(key)] };
      default:
        return this.#unexpected(operator, 'in, notin, =, ==, !=, gt, lt');
    }
  }

  /** A comparison with nothing after it compares with the empty value. */
  #value(): string {
    const token = this.#tokens[this.#at];
    if (token === undefined || token === ',') return '';
    this.#at += 1;
    return checkLabelValue(token);
  }

  #integer(key: string): string {
    const value = this.#value();
    if (!isInteger(value)) {
      throw new SelectorError(
        `values[0][${key}]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
      );
    }
    return value;
  }

  #values(): string[] {
    const open = this.#next();
    if (open !== '(') this.#unexpected(open ?? '', "'('");
    const values = new Set<string>();
    for (;;) {
      const token = this.#next();
      if (token === undefined) this.#unexpected('', "',' or ')'");
      if (token === ')' || token === ',') values.add('');
      else values.add(checkLabelValue(token));
      const end = token === ')' || token === ',' ? token : this.#next();
      if (end === ')') return [...values].sort();
      if (end !== ',') this.#unexpected(end ?? '', "',' or ')'");
    }
  }

  #key(token: string): string {
    if (!/^[A-Za-z0-9]/.test(token)) this.#unexpected(token, "!, identifier, or 'end of string'");
    return checkLabelKey(token);
  }

  #next(): string | undefined {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    return token;
  }

  #unexpected(found: string, expected: string): never {
    throw new SelectorError(
      `unable to parse requirement: found '${found}', expected: ${expected} in ${JSON.stringify(this.#text)}`,
    );
  }
}

function checkLabelKey(key: string): string {
  const slash = key.indexOf('/');
  const name = key.slice(slash + 1);
  const prefix = key.slice(0, Math.max(slash, 0));
  const valid = NAME.test(name) && name.length <= MAX_VALUE_CHARS && (slash < 0 || PREFIX.test(prefix));
  if (!valid)
    throw new SelectorError(
      `unable to parse requirement: <nil>: Invalid value: ${JSON.stringify(key)}: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
    );
  return key;
}

function checkLabelValue(value: string): string {
  if (value.length <= MAX_VALUE_CHARS && (value === '' || NAME.test(value))) return value;
  throw new SelectorError(
    `unable to parse requirement: values[0]: Invalid value: ${JSON.stringify(value)}: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
  );
}

/** A LabelSelector object as requirements. An empty selector selects everything. */
export const fromLabelSelector = ({
  matchLabels = {},
  matchExpressions = [],
}: LabelSelector): LabelRequirement[] => [
  ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In' as const, values: [value] })),
  ...matchExpressions.map(({ key = '', operator, values = [] }) => ({
    key,
    operator: operator as LabelRequirement['operator'],
    values,
  })),
];

/** The text form, as kubectl shows selectors. The requirements from `firstSet` on are written as sets, also those with one value. */
export function formatLabelRequirements(
  requirements: readonly LabelRequirement[],
  firstSet = requirements.length,
): string {
  return requirements
    .map((requirement, at) => ({ key: requirement.key, text: textOf(requirement, at >= firstSet) }))
    .sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
    .map(({ text }) => text)
    .join(',');
}

function textOf({ key, operator, values }: LabelRequirement, isSet: boolean): string {
  const isOne = values.length === 1 && !isSet;
  switch (operator) {
    case 'In':
      return isOne ? `${key}=${values[0]}` : `${key} in (${[...values].sort().join(',')})`;
    case 'NotIn':
      return isOne ? `${key}!=${values[0]}` : `${key} notin (${[...values].sort().join(',')})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'Gt':
      return `${key}>${values[0]}`;
    case 'Lt':
      return `${key}<${values[0]}`;
    default:
      return operator satisfies never;
  }
}

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

/** The one value that a selector requires of a field; undefined when it requires none. */
export function requiredValue(requirements: readonly FieldRequirement[], field: string): string | undefined {
  return requirements.find((requirement) => requirement.field === field && !requirement.negated)?.value;
}
