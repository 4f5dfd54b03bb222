import type { Environment } from '@marcbachmann/cel-js';
import { spend } from '../budget.ts';
import { celEqual, entriesOf, isMap, isNumber } from '../cel-equality.ts';
import {
  type Context,
  type Evaluator,
  iterationName,
  type MacroCall,
  type Node,
  type TypeChecker,
  type TypeName,
} from './macros.ts';

/**
 * Loops over a list or a map with two variables: the index and the item, or the key and the value (cel-go:
 * ext/comprehensions).
 */
export function registerLoops(environment: Environment): Environment {
  for (const [name, quantifier] of Object.entries(QUANTIFIERS))
    environment.registerFunction(`list.${name}(ast, ast, ast): bool`, (call: MacroCall) =>
      loopOf(call, name, quantifier),
    );
  for (const [name, { returns, ...loop }] of Object.entries(TRANSFORMS))
    for (const filter of ['', ', ast'])
      environment.registerFunction(`list.${name}(ast, ast, ast${filter}): ${returns}`, (call: MacroCall) =>
        loopOf(call, name, loop),
      );
  return environment;
}

/** Types of the two variables. */
interface Variables {
  readonly key: TypeName;
  readonly value: TypeName;
}

interface Loop {
  /** The type of the result, from that of the last argument. @throws Error */
  typeOf(checker: TypeChecker, body: TypeName, variables: Variables, node: unknown): TypeName;
  /** `run` evaluates the last argument; it gives undefined for an entry that the filter leaves out. */
  evaluate(entries: Iterable<Entry>, run: (entry: Entry) => unknown): unknown;
}

type Entry = readonly [key: unknown, value: unknown];

function mustBeBool(checker: TypeChecker, type: TypeName, node: unknown): void {
  if (type.kind === 'dyn' || type.name === 'bool') return;
  throw checker.createError('mixed_types', `expected type 'bool' but found '${type.name}'`, node);
}

const typeOfQuantifier: Loop['typeOf'] = (checker, body, _, node) => {
  mustBeBool(checker, body, node);
  return checker.getType('bool');
};

const NO_OVERLOAD = 'no such overload';

function toBool(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new Error(NO_OVERLOAD);
  return value;
}

/** One entry decides, even if others fail. */
const untilDecided = (decisive: boolean): Loop => ({
  typeOf: typeOfQuantifier,
  evaluate: (entries, run) => {
    let failure: { readonly error: unknown } | undefined;
    for (const entry of entries) {
      try {
        if (toBool(run(entry)) === decisive) return decisive;
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure !== undefined) throw failure.error;
    return !decisive;
  },
});

const EXACTLY_ONE: Loop = {
  typeOf: typeOfQuantifier,
  evaluate: (entries, run) => {
    let count = 0;
    for (const entry of entries) if (toBool(run(entry))) count += 1;
    return count === 1;
  },
};

const QUANTIFIERS: Readonly<Record<string, Loop>> = {
  all: untilDecided(false),
  exists: untilDecided(true),
  existsOne: EXACTLY_ONE,
  exists_one: EXACTLY_ONE,
};

const TRANSFORMS: Readonly<Record<string, Loop & { readonly returns: string }>> = {
  transformList: {
    returns: 'list<dyn>',
    typeOf: (checker, body) => checker.registry.getListType(body),
    evaluate: (entries, run) => {
      const list: unknown[] = [];
      for (const entry of entries) {
        const item = run(entry);
        if (item !== undefined) list.push(item);
      }
      return list;
    },
  },
  transformMap: {
    returns: 'map<dyn, dyn>',
    typeOf: (checker, body, { key }) => checker.registry.getMapType(key, body),
    evaluate: (entries, run) => {
      const map = new Map<unknown, unknown>();
      for (const entry of entries) {
        const value = run(entry);
        if (value !== undefined) map.set(entry[0], value);
      }
      return map;
    },
  },
  transformMapEntry: {
    returns: 'map<dyn, dyn>',
    typeOf: (checker, body, _, node) => {
      if (body.kind === 'map' || body.kind === 'dyn') return body;
      const applied = `'cel.@mapInsert(map<dyn, dyn>, ${body.name})'`;
      throw checker.createError('no_matching_overload', `found no matching overload for ${applied}`, node);
    },
    evaluate: (entries, run) => {
      const map = new Map<unknown, unknown>();
      for (const entry of entries) {
        const made = run(entry);
        if (made === undefined) continue;
        if (!isMap(made)) throw new Error(NO_OVERLOAD);
        for (const [key, value] of entriesOf(made)) insert(map, key, value);
      }
      return map;
    },
  },
};

/** Keys that are equal numbers are one key. @throws Error when the key is there */
function insert(map: Map<unknown, unknown>, key: unknown, value: unknown): void {
  const isThere = map.has(key) || (isNumber(key) && [...map.keys()].some((other) => celEqual(other, key)));
  if (isThere) throw new Error(`insert failed: key ${String(key)} already exists`);
  map.set(key, value);
}

/** The macro of a loop: `range.all(key, value, body)`, or with a filter before the body. */
function loopOf({ ast, args, receiver }: MacroCall, name: string, loop: Loop): object {
  const [first, second, ...rest] = args;
  const [key, value] = [iterationName(first, name), iterationName(second, name)];
  if (key === value) throw new Error(`duplicate variable name: ${key}`);
  const body = rest.at(-1);
  const filter = rest.length > 1 ? rest[0] : undefined;
  let outer: Context | undefined;
  let inner: Context | undefined;
  return {
    ...{ receiver, body, filter },
    async: false,
    typeCheck(checker: TypeChecker, _macro: unknown, context: Context): TypeName {
      const variables = variablesOf(checker, receiver, context);
      outer = context.forkWithVariable(key, variables.key);
      inner = outer.forkWithVariable(value, variables.value);
      if (filter !== undefined) mustBeBool(checker, checker.check(filter, inner), filter);
      return loop.typeOf(checker, checker.check(body, inner), variables, ast);
    },
    evaluate(evaluator: Evaluator, _macro: unknown, context: Context): unknown {
      const range = evaluator.run(receiver, context);
      return loop.evaluate(pairsOf(range), ([index, item]) => {
        spend(1);
        const bound = outer?.reuse(context).setIterValue(index, evaluator);
        const scope = bound && inner?.reuse(bound).setIterValue(item, evaluator);
        if (filter !== undefined && !toBool(evaluator.run(filter, scope))) return undefined;
        return evaluator.run(body, scope);
      });
    },
  };
}

/** @throws Error for a value that is no list or map */
function variablesOf(checker: TypeChecker, range: Node | undefined, context: Context): Variables {
  const dyn = checker.getType('dyn');
  const type = checker.check(range, context);
  if (type.kind === 'list') return { key: checker.getType('int'), value: type.valueType ?? dyn };
  if (type.kind === 'map') return { key: type.keyType ?? dyn, value: type.valueType ?? dyn };
  if (type.kind === 'dyn') return { key: dyn, value: dyn };
  const why = `expression of type '${type.name}' cannot be range of a comprehension (must be list, map, or dynamic)`;
  throw checker.createError('invalid_comprehension_range', why, range);
}

function pairsOf(range: unknown): Iterable<Entry> {
  if (Array.isArray(range)) return range.map((item, at): Entry => [BigInt(at), item]);
  if (isMap(range)) return entriesOf(range);
  throw new Error(NO_OVERLOAD);
}
