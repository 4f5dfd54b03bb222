import type { CheckedNode, LibraryType } from './library-internals.ts';

/**
 * Mistakes in `'%d of %s'.format([…])` where both are written out, found when it is compiled (cel-go, ext/formatting.go,
 * stringFormatValidator).
 */

interface FormatProblem {
  readonly text: string;
  /** Undefined: the call. */
  readonly node: CheckedNode | undefined;
}

type TypeOf = (node: CheckedNode) => LibraryType;

/** The types that a clause takes, and what is said of others. */
type Clause = readonly [types: string, refusal: string];

const DOUBLES = 'double string';
const INTEGERS = 'int uint';
const HEX: Clause = [
  `${INTEGERS} string bytes`,
  'only integers, byte buffers, and strings can be formatted as hex',
];
const CLAUSES: ReadonlyMap<string, Clause> = new Map<string, Clause>([
  [
    's',
    [
      `list map ${INTEGERS} double bool string bytes type null google.protobuf.Timestamp google.protobuf.Duration`,
      'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    ],
  ],
  ['d', [INTEGERS, 'decimal clause can only be used on integers']],
  ['f', [DOUBLES, 'fixed-point clause can only be used on doubles']],
  ['e', [DOUBLES, 'scientific clause can only be used on doubles']],
  ['b', [`${INTEGERS} bool`, 'only integers and bools can be formatted as binary']],
  ['o', [INTEGERS, 'octal clause can only be used on integers']],
  ['x', HEX],
  ['X', HEX],
]);

/** Undefined: nothing is wrong, or only the values can tell. */
export function formatProblem(
  template: string,
  args: readonly CheckedNode[],
  typeOf: TypeOf,
): FormatProblem | undefined {
  const asked = [...template.matchAll(/%(?:%|(?:\.\d+)?(.?))/gs)].filter(([all]) => all !== '%%');
  for (const [at, [all, verb = '']] of asked.entries()) {
    const arg = args[at];
    if (all === '%') return ofCall('unexpected end of string');
    if (arg === undefined) return ofCall(`index ${at} out of range`);
    const clause = CLAUSES.get(verb);
    if (clause === undefined)
      return ofCall(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
    const misfit =
      verb === 's' ? unprintable(arg, clause, typeOf) : fits(arg, clause, typeOf) ? undefined : arg;
    if (misfit === undefined) continue;
    return {
      text: `error during formatting: ${clause[1]}, was given ${baseName(typeOf(misfit))}`,
      node: misfit,
    };
  }
  if (args.length <= asked.length) return undefined;
  return ofCall(
    `too many arguments supplied to string.format (expected ${asked.length}, got ${args.length})`,
  );
}

const ofCall = (text: string): FormatProblem => ({ text, node: undefined });

/** `list` of `list<int>`. */
const baseName = ({ kind, name }: LibraryType): string =>
  kind === 'list' || kind === 'map' ? kind : kind === 'optional' ? 'optional_type' : name;

function fits(arg: CheckedNode, [types]: Clause, typeOf: TypeOf): boolean {
  const type = typeOf(arg);
  return type.kind === 'dyn' || types.split(' ').includes(baseName(type));
}

/** The argument, or what stands in it, that is no text. */
function unprintable(arg: CheckedNode, clause: Clause, typeOf: TypeOf): CheckedNode | undefined {
  if (!fits(arg, clause, typeOf)) return arg;
  if (arg.op !== 'list' && arg.op !== 'map') return undefined;
  for (const part of (
    arg.args as readonly (CheckedNode | readonly CheckedNode[])[]
  ).flat() as CheckedNode[]) {
    const found = unprintable(part, clause, typeOf);
    if (found !== undefined) return found;
  }
  return undefined;
}
