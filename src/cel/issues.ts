import { errorText } from '../util/error-text.ts';
import { CelError, NESTING } from './program.ts';
import { syntaxText } from './syntax-issues.ts';

/** Errors in the words of Kubernetes' CEL (cel-go), which users know and search for. */

/**
 * Why an expression does not compile, and where:
 *
 *   ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')
 *    | foo == 1
 *    | ^
 */
export function describeIssue(error: CelError, expression: string, knows: (name: string) => boolean): string {
  if (error.code === NESTING) return `ERROR: <input>:-1:0: ${error.message}`;
  const offset = Math.min(error.offset ?? 0, expression.length);
  const before = expression.slice(0, offset).split('\n');
  const column = before.at(-1)?.length ?? 0;
  const line = expression.split('\n')[before.length - 1] ?? '';
  const place = `<input>:${before.length}:${column + 1}`;
  const syntax = SYNTAX.has(error.code)
    ? syntaxText({ message: error.message, offset }, expression)
    : undefined;
  const text = syntax === undefined ? issueText(error, knows) : `Syntax error: ${syntax}`;
  return `ERROR: ${place}: ${text}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

/** All issues in the order of their places, as far as Kubernetes lists them. */
export function describeIssues(
  errors: readonly CelError[],
  expression: string,
  knows: (name: string) => boolean,
): string {
  const inOrder = errors.toSorted((a, b) => (a.offset ?? 0) - (b.offset ?? 0));
  const told = inOrder.slice(0, MAX_ISSUES).map((error) => describeIssue(error, expression, knows));
  const left = errors.length - told.length;
  return [...told, ...(left > 0 ? [`${left} more errors were truncated`] : [])].join('\n');
}

const MAX_ISSUES = 100;

/** The code of lists and maps whose items are not of one type. */
export const MIXED_ITEMS = 'mixed_items';

/** The code of mistakes in the arguments of `format`. */
export const INVALID_FORMAT = 'invalid_format';

const SYNTAX: ReadonlySet<string> = new Set([
  'unexpected_token',
  'expected_token',
  'unexpected_character',
  'unterminated_string',
  'newline_in_string',
  'parse_error',
  'invalid_escape_sequence',
]);

function issueText({ code, message }: CelError, knows: (name: string) => boolean): string {
  const after = (prefix: string): string => message.slice(prefix.length);
  if (SYNTAX.has(code)) return `Syntax error: ${message}`;
  switch (code) {
    case 'unknown_variable':
      return undeclared(after('Unknown variable: '));
    case 'reserved_identifier':
      return `reserved identifier: ${after('Reserved identifier: ')}`;
    case 'no_such_key':
      return `undefined field '${after('No such key: ')}'`;
    case 'no_such_overload':
      return noOverload(after('no such overload: '));
    case 'no_matching_overload':
      return noFunction(message, knows);
    case INVALID_FORMAT:
      return message;
    case 'cannot_index_type':
      return `type ${goTypes(after('Cannot index type '))} does not support field selection`;
    default:
      return REWORDED.reduce((text, [pattern, words]) => text.replace(pattern, words), goTypes(message));
  }
}

/** Other sentences of the library, and those of cel-go. */
const REWORDED: readonly (readonly [RegExp, string])[] = [
  [/^Expression (of type .* dynamic\))\.$/, 'expression $1'],
  [/^\w+\(.*\) predicate must return bool, got ('.*')$/, "expected type 'bool' but found $1"],
  [/^\w+\(.*\) invalid predicate iteration variable$/, 'argument must be a simple name'],
  [
    /^Ternary branches must have the same type, got '(.*)' and '(.*)'$/,
    "found no matching overload for '_?_:_' applied to '(bool, $1, $2)'",
  ],
];

/** Types as cel-go writes them: `map<string, list<int>>` → `map(string, list(int))`. */
function goTypes(text: string): string {
  const named = text
    .replaceAll('google.protobuf.Duration', 'duration')
    .replaceAll('google.protobuf.Timestamp', 'timestamp')
    .replaceAll('optional<', 'optional_type<');
  // An empty list or map holds any type.
  const filled = named.replaceAll('<T>', '<dyn>').replaceAll('<K, V>', '<dyn, dyn>');
  return GENERIC.test(filled) ? filled.replaceAll('<', '(').replaceAll('>', ')') : filled;
}

/** The type of a program: `list` and `map` hold anything. */
export const typeText = (type: string): string =>
  type === 'null'
    ? 'null_type'
    : type === 'list'
      ? 'list(dyn)'
      : type === 'map'
        ? 'map(dyn, dyn)'
        : goTypes(type);

const GENERIC = /\b(?:list|map|optional_type)</;

const undeclared = (name: string): string => `undeclared reference to '${name}' (in container '')`;

const NAMES: Readonly<Record<string, string>> = { in: '@in', '[_]': '_[_]', '[?_]': '_[?_]' };

const UNARY = /^([!-])(.+)$/;

/** Operators; types of maps have spaces too. */
const OPERATION = /^(.+) (==|!=|<=?|>=?|[-+*/%]|in|\[\??_\]) (.+)$/;

/** `int + string` → `found no matching overload for '_+_' applied to '(int, string)'`. */
function noOverload(applied: string): string {
  const [, sign, only] = UNARY.exec(applied) ?? [];
  if (sign !== undefined)
    return `found no matching overload for '${sign}_' applied to '(${goTypes(only ?? '')})'`;
  const [, left, operator, right] = OPERATION.exec(applied) ?? [];
  if (left === undefined) return `no such overload: ${applied}`;
  const name = NAMES[operator ?? ''] ?? `_${operator}_`;
  return `found no matching overload for '${name}' applied to '(${goTypes(left)}, ${goTypes(right ?? '')})'`;
}

const NAMESPACES: Readonly<Record<string, string>> = {
  'kubernetes.Sets': 'sets',
  'kubernetes.Strings': 'strings',
  'kubernetes.Formats': 'format',
  'kubernetes.JSONPatches': 'jsonpatch',
  'kubernetes.Lists': 'lists',
  'net.IPFunctions': 'ip',
  OptionalNamespace: 'optional',
};

/** `found no matching overload for 'string.find(int)'`. */
function noFunction(message: string, knows: (name: string) => boolean): string {
  const [, receiver, name = '', types] = /'(?:(.+)\.)?(\w+)\((.*)\)'$/.exec(message) ?? [];
  if (name === '') return message;
  if (!knows(name)) return undeclared(name);
  const namespace = NAMESPACES[receiver ?? ''];
  const called = namespace === undefined ? name : `${namespace}.${name}`;
  const on = receiver === undefined || namespace !== undefined ? '' : `${receiver}.`;
  return `found no matching overload for '${called}' applied to '${goTypes(`${on}(${types})`)}'`;
}

/** Describes the failure of an expression while it ran. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof CelError)) return errorText(error);
  switch (error.code) {
    case 'no_such_key':
      return `no such key: ${error.message.replace('No such key: ', '')}`;
    case 'index_out_of_bounds':
      return `index out of bounds: ${/index (-?\d+)/.exec(error.message)?.[1] ?? ''}`;
    case 'modulo_by_zero':
      return 'modulus by zero';
    case 'numeric_overflow':
      return error.message.startsWith('Unsigned') ? 'unsigned integer overflow' : 'integer overflow';
    case 'no_matching_overload':
      return noFunctionFor(error.message);
    case 'no_such_overload':
    case 'invalid_condition_type':
    case 'invalid_logical_operand':
    case 'unsupported_type':
      return 'no such overload';
    case 'optional_value_missing':
      return 'optional.none() dereference';
    default:
      return FAILURES.reduce((text, [pattern, words]) => text.replace(pattern, words), error.message);
  }
}

/** Other sentences of the library, and those of cel-go. */
const FAILURES: readonly (readonly [RegExp, string])[] = [
  [/^Invalid duration string: .*$/s, "type conversion error from 'string' to 'google.protobuf.Duration'"],
  [/^timestamp\(\) requires .*$/s, "type conversion error from 'string' to 'google.protobuf.Timestamp'"],
  [/^Invalid time zone specified: /, 'unknown time zone '],
];

/** Functions that cel-go does not name where they fail. */
const UNNAMED: ReadonlySet<string> = new Set(
  'contains startsWith endsWith reMatch matches find findAll'.split(' '),
);

/** `found no matching overload for 'list<int>.join(string)'` → `no such overload: join(list, string)`. */
function noFunctionFor(message: string): string {
  const [, receiver, name = '', types = ''] = /'(?:(.+)\.)?(\w+)\((.*)\)'/s.exec(message) ?? [];
  if (name === '' || UNNAMED.has(name)) return 'no such overload';
  if (name === 'size') return 'no such overload: size';
  const namespace = NAMESPACES[receiver ?? ''];
  const bare = types.replace(/<[^()]*?>(?=,|$)/g, '').replace(/\bnull\b/g, 'null_type');
  const on = receiver === undefined || namespace !== undefined ? [] : [receiver.replace(/<.*>$/s, '')];
  const given = [...on, ...(bare === '' ? [] : [bare])].join(', ');
  return `no such overload: ${namespace === undefined ? '' : `${namespace}.`}${name}(${given})`;
}
