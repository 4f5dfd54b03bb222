import type { Environment } from '@marcbachmann/cel-js';
import {
  internalsOf,
  type LibraryChecker,
  type LibraryParser,
  type LibraryType,
  type ParsedNode,
} from './library-internals.ts';
import { evaluateMap, OPTIONAL_ENTRY, present } from './written-maps.ts';

/**
 * Adds `[?x]` and `{?k: v}` (cel-spec, optional values) to the library's parser: entries that exist if their optional value
 * does. Patches its class once, for all environments.
 */
export function teachOptionalEntries(environment: Environment): void {
  const { Parser } = internalsOf(environment.clone());
  const { parseExpression, parseList, parseMap } = Parser.prototype;
  Parser.prototype.parseExpression = function parse(this: LibraryParser): ParsedNode {
    if (!this.match(QUESTION)) return parseExpression.call(this);
    this.consume(QUESTION);
    const inner = parseExpression.call(this);
    return inner.clone(ENTRY, inner);
  };
  Parser.prototype.parseList = function parse(this: LibraryParser): ParsedNode {
    const node = parseList.call(this);
    return itemsOf(node).some(isEntry) ? teach(node, LIST) : node;
  };
  Parser.prototype.parseMap = function parse(this: LibraryParser): ParsedNode {
    const node = parseMap.call(this);
    return entriesOf(node).some(([key]) => isEntry(key)) ? teach(node, MAP) : node;
  };
}

/** The library's number of the token `?`. */
const QUESTION = 30;

const isEntry = ({ op }: ParsedNode): boolean => op === OPTIONAL_ENTRY;

/** The arguments of a node go with its operator. */
const itemsOf = ({ args }: ParsedNode): readonly ParsedNode[] => args as readonly ParsedNode[];
const entriesOf = ({ args }: ParsedNode): readonly (readonly [ParsedNode, ParsedNode])[] =>
  args as readonly (readonly [ParsedNode, ParsedNode])[];
/** The node after the `?`, if there is one. */
const innerOf = (node: ParsedNode): ParsedNode => (isEntry(node) ? (node.args as ParsedNode) : node);

interface Runner {
  run(node: ParsedNode, context: unknown): unknown;
}

interface Operation {
  check(checker: LibraryChecker, node: ParsedNode, context: unknown): LibraryType;
  evaluate(runner: Runner, node: ParsedNode, context: unknown): unknown;
}

/** An entry by itself; lists and maps check theirs. */
const ENTRY: Operation & { readonly name: string } = {
  name: OPTIONAL_ENTRY,
  check(checker, node) {
    throw checker.createError('unexpected_token', 'Unexpected token: QUESTION', node);
  },
  evaluate: (runner, node, context) => runner.run(innerOf(node), context),
};

const teach = (node: ParsedNode, { check, evaluate }: Operation): ParsedNode =>
  node.setMeta('check', check).setMeta('evaluate', evaluate);

/** The type of an entry's value, which is that of what is in it where it stands behind a `?`. */
export function typeOfEntry(
  checker: LibraryChecker,
  node: ParsedNode,
  context: unknown,
  isOptional: boolean,
): LibraryType {
  const type = checker.check(node, context);
  if (!isOptional || type.kind === 'dyn') return type;
  if (type.kind === 'optional' && type.valueType !== undefined) return type.valueType;
  throw checker.createError(
    'mixed_types',
    `expected type 'optional_type(${type.name})' but found '${type.name}'`,
    node,
  );
}

function common(checker: LibraryChecker, types: readonly LibraryType[]): LibraryType {
  const { registry } = checker;
  return types.reduce((one, other) => one.unify(registry, other) ?? registry.getType('dyn'));
}

const LIST: Operation = {
  check(checker, node, context) {
    const types = itemsOf(node).map((item) => typeOfEntry(checker, innerOf(item), context, isEntry(item)));
    return checker.registry.getListType(common(checker, types));
  },
  evaluate(runner, node, context) {
    return itemsOf(node).flatMap((item) => {
      const value = runner.run(item, context);
      return isEntry(item) ? present(value) : [value];
    });
  },
};

const MAP: Operation = {
  check(checker, node, context) {
    const entries = entriesOf(node);
    const keys = entries.map(([key]) => checker.check(innerOf(key), context));
    const values = entries.map(([key, value]) => typeOfEntry(checker, value, context, isEntry(key)));
    return checker.registry.getMapType(common(checker, keys), common(checker, values));
  },
  evaluate: evaluateMap,
};
