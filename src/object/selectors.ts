import type { LabelSelector } from '../api/types/meta/v1.ts';
import { goQuote } from './go-value.ts';
import { checkLabelValue, checkQualifiedName } from './text-formats.ts';

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

/** @throws SelectorError in Kubernetes' words */
export const parseLabelSelector = (text: string): LabelRequirement[] => new SelectorParser(text).parse();

const SPECIAL: ReadonlySet<string> = new Set(['(', ')', ',', '!', '=', '==', '!=', '<', '>']);

const isIdentifier = (token: string | undefined): token is string =>
  token !== undefined && !SPECIAL.has(token);

/** One pass over tokens: names, operators, parentheses and commas. The order of checks is that of Kubernetes' parser. */
class SelectorParser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = text.match(/[(),]|!=|==|=|!|<|>|[^ \t\r\n(),!=<>]+/g) ?? [];
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    while (this.#at < this.#tokens.length) {
      const first = this.#tokens[this.#at];
      if (first !== '!' && !isIdentifier(first))
        refuse(`found '${first}', expected: !, identifier, or 'end of string'`);
      requirements.push(this.#requirement());
      const next = this.#next();
      if (next === undefined) break;
      if (next !== ',') refuse(`found '${next}', expected: ',' or 'end of string'`);
      const following = this.#tokens[this.#at];
      if (following !== '!' && !isIdentifier(following))
        refuse(`found '${following ?? ''}', expected: identifier after ','`);
    }
    return requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }

  #requirement(): LabelRequirement {
    const isNegated = this.#tokens[this.#at] === '!';
    if (isNegated) this.#at += 1;
    const key = this.#next();
    if (!isIdentifier(key)) refuseRequirement(`found '${key ?? ''}', expected: identifier`);
    const problems = checkQualifiedName(key);
    if (problems.length > 0)
      refuseRequirement(`<nil>: Invalid value: ${goQuote(key)}: ${problems.join('; ')}`);
    if (isNegated) return { key, operator: 'DoesNotExist', values: [] };
    const operator = this.#tokens[this.#at];
    if (operator === undefined || operator === ',') return { key, operator: 'Exists', values: [] };
    this.#at += 1;
    return this.#comparison(key, operator);
  }

  #comparison(key: string, operator: string): LabelRequirement {
    switch (operator) {
      case '=':
      case '==':
        return { key, operator: 'In', values: checkValues(key, [this.#value()]) };
      case '!=':
        return { key, operator: 'NotIn', values: checkValues(key, [this.#value()]) };
      case 'in':
        return { key, operator: 'In', values: checkValues(key, this.#values()) };
      case 'notin':
        return { key, operator: 'NotIn', values: checkValues(key, this.#values()) };
      case '>':
      case '<':
        return {
          key,
          operator: operator === '>' ? 'Gt' : 'Lt',
          values: checkValues(key, [this.#value()], true),
        };
      default:
        return refuseRequirement(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  /** A comparison with nothing after it compares with the empty value. */
  #value(): string {
    const token = this.#tokens[this.#at];
    if (token === undefined || token === ',') return '';
    this.#at += 1;
    return isIdentifier(token) ? token : refuseRequirement(`found '${token}', expected: identifier`);
  }

  /** Between commas and parentheses may be nothing, which is the empty value. */
  #values(): string[] {
    const open = this.#next();
    if (open !== '(') refuseRequirement(`found '${open ?? ''}' expected: '('`);
    const first = this.#tokens[this.#at];
    if (first !== ')' && first !== ',' && !isIdentifier(first))
      refuseRequirement(`found '${first ?? ''}', expected: ',', ')' or identifier`);
    const values = new Set<string>();
    for (;;) {
      const token = this.#next();
      if (token === ')' || token === ',') values.add('');
      else if (isIdentifier(token)) values.add(token);
      else refuseRequirement(`found '${token ?? ''}', expected: ',', or identifier`);
      const end = token === ')' || token === ',' ? token : this.#next();
      if (end === ')') return [...values].sort();
      if (end !== ',') refuseRequirement(`found '${end ?? ''}', expected: ',' or ')'`);
    }
  }

  #next(): string | undefined {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    return token;
  }
}

function refuse(why: string): never {
  throw new SelectorError(why);
}

function refuseRequirement(why: string): never {
  throw new SelectorError(`unable to parse requirement: ${why}`);
}

/** @throws SelectorError */
function checkValues(key: string, values: string[], areIntegers = false): string[] {
  const problems = values.flatMap((value, at) => {
    const invalid = (path: string, why: string): string =>
      `${path}: Invalid value: ${goQuote(value)}: ${why}`;
    const bad = checkLabelValue(value);
    return [
      ...(areIntegers && !isInteger(value)
        ? [invalid(`values[${at}]`, "for 'Gt', 'Lt' operators, the value must be an integer")]
        : []),
      ...(bad.length > 0 ? [invalid(`values[${at}][${key}]`, bad.join('; '))] : []),
    ];
  });
  if (problems.length === 0) return values;
  return refuseRequirement(problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`);
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
