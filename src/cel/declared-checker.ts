import { formatProblem } from './format-calls.ts';
import { INVALID_FORMAT, MIXED_ITEMS } from './issues.ts';
import type {
  CheckedNode,
  Internals,
  LibraryChecker,
  LibraryRegistry,
  LibraryType,
} from './library-internals.ts';
import { literalProblem, writtenValue } from './literals.ts';
import { note, orAnyType } from './mistakes.ts';
import { OPTIONAL_ENTRY } from './written-maps.ts';

/** Functions of a list whose result has the type of its items. */
const OF_ITEMS: ReadonlySet<string> = new Set(['sum', 'min', 'max', 'sort']);

/** The library's functions of bytes that Kubernetes lacks. */
const FOREIGN: ReadonlySet<string> = new Set(['json', 'hex', 'base64', 'at', 'string']);

/** The type of `[]` and `{}`, which goes with any other list or map. */
const isEmpty = ({ valueType }: LibraryType): boolean => valueType?.kind === 'param';

function canIndex(container: LibraryType, index: LibraryType): boolean {
  if (container.kind === 'dyn') return true;
  const key =
    container.kind === 'list' ? 'int' : container.kind === 'map' ? container.keyType?.name : undefined;
  if (key === undefined) return false;
  return index.kind === 'dyn' || index.name === key || key === 'dyn' || container.keyType?.kind === 'param';
}

/** The arguments of `'%d %s'.format([1, 'a'])`. */
const isFormat = ({ op, args }: CheckedNode): boolean =>
  op === 'rcall' && Array.isArray(args) && Object.is(args[0], 'format');

const isAlternative = ({ op, args }: CheckedNode): boolean =>
  op === 'rcall' && Array.isArray(args) && (Object.is(args[0], 'or') || Object.is(args[0], 'orValue'));

const mapTypeOf = (registry: LibraryRegistry): unknown => registry.variables.get('map')?.value;

type CheckerClass = new (
  parts: { readonly registry: LibraryRegistry; readonly opts: unknown },
  objects: ReadonlySet<string>,
) => LibraryChecker;

let checkerClass: CheckerClass | undefined;

/** Extends the library's checker for objects with declared fields: `objects` are the names of their types. */
export function checkerFor({ Checker }: Internals): CheckerClass {
  checkerClass ??= class extends Checker {
    readonly #checks: DeclaredChecks;

    constructor(
      parts: { readonly registry: LibraryRegistry; readonly opts: unknown },
      objects: ReadonlySet<string>,
    ) {
      super(parts);
      this.#checks = new DeclaredChecks(this, objects, (node, context) => super.check(node, context));
    }

    override check(node: CheckedNode, context: unknown): LibraryType {
      return node.checkedType ?? orAnyType(this, node, () => this.#checks.check(node, context));
    }
  };
  return checkerClass;
}

/** What the library's checker leaves out, and the types that it gets wrong. */
class DeclaredChecks {
  readonly #checker: LibraryChecker;
  readonly #ofLibrary: LibraryChecker['check'];
  readonly #objects: ReadonlySet<string>;
  /** Lists may hold values of different types here. */
  #mayMix = false;

  /** `ofLibrary` is the check that `checker` extends. */
  constructor(checker: LibraryChecker, objects: ReadonlySet<string>, ofLibrary: LibraryChecker['check']) {
    this.#checker = checker;
    this.#ofLibrary = ofLibrary;
    this.#objects = objects;
  }

  check(node: CheckedNode, context: unknown): LibraryType {
    if (!isFormat(node)) return this.#check(node, context);
    this.#mayMix = true;
    try {
      return this.#check(node, context);
    } finally {
      this.#mayMix = false;
    }
  }

  #check(node: CheckedNode, context: unknown): LibraryType {
    if (Array.isArray(node.args) && node.meta.alternate === undefined && node.meta.macro === undefined)
      this.#checkObjects(node, node.args, context);
    if (isAlternative(node)) this.#checkAlternative(node, context);
    if (this.#takesAnyItems(node, context)) {
      this.#ofLibrary(node, context);
      node.checkedType = this.#checker.getType('dyn');
      return node.checkedType;
    }
    return this.#ofLibrary(node, context);
  }

  /** Only the items determine the type of the result: each overload fits, and the library takes the first. */
  #takesAnyItems({ op, args }: CheckedNode, context: unknown): boolean {
    if (op !== 'rcall' || !Array.isArray(args) || !OF_ITEMS.has(String(args[0]))) return false;
    const list = args[1] as CheckedNode;
    const isEmpty = list.op === 'list' && Array.isArray(list.args) && list.args.length === 0;
    return !isEmpty && this.#checker.check(list, context).valueType?.kind === 'dyn';
  }

  #isObject({ name }: LibraryType): boolean {
    return this.#objects.has(name);
  }

  #checkObjects(node: CheckedNode, args: readonly CheckedNode[], context: unknown): void {
    const [first, second] = args;
    if (node.op === 'list') this.#checkAlike(args, context);
    if (node.op === 'map') {
      const entries = (args as unknown as readonly (readonly [CheckedNode, CheckedNode])[]).filter(
        ([key]) => key.op !== OPTIONAL_ENTRY,
      );
      const [keys, values] = [entries.map(([key]) => key), entries.map(([, value]) => value)];
      this.#checkAlike(keys, context);
      this.#checkAlike(values, context);
    }
    if (first === undefined || second === undefined) return;
    switch (node.op) {
      case 'call':
        if (Object.is(first, 'type')) this.#checkTypeCall(node, args[1], context);
        this.#checkLiteral(String(first), args[1]);
        return;
      case 'rcall':
        this.#checkLiteral(String(first), args[2]);
        this.#checkCall(node, String(first), second, args[2], context);
        return;
      case '&&':
      case '||':
        this.#checkBool(first, context);
        this.#checkBool(second, context);
        return;
      case '==':
      case '!=':
        this.#checkEquality(node, first, second, context);
        return;
      case '[]':
      case '[?]': {
        const type = this.#checker.check(first, context);
        const index = this.#checker.check(second, context);
        const isOptional = node.op === '[?]';
        const container = type.kind === 'optional' ? (type.valueType ?? type) : type;
        if (!canIndex(container, index))
          throw this.#noOverload(node, `${type.name} ${isOptional ? '[?_]' : '[_]'} ${index.name}`);
        return;
      }
      case '.':
      case '.?':
        this.#checkField(node, this.#checker.check(first, context));
        return;
    }
  }

  /** Only objects and maps have fields. */
  #checkField(node: CheckedNode, type: LibraryType): void {
    const holder = type.kind === 'optional' ? (type.valueType ?? type) : type;
    if (holder.kind === 'dyn' || holder.kind === 'map') return;
    const name = String((node.args as readonly unknown[])[1]);
    if (this.#checker.registry.objectTypes.get(holder.name)?.fields[name] !== undefined) return;
    if (this.#isObject(holder)) throw this.#checker.createError('no_such_key', `No such key: ${name}`, node);
    throw this.#checker.createError('cannot_index_type', `Cannot index type '${holder.name}'`, node);
  }

  /** What stands in one list or map is of one type. */
  #checkAlike(nodes: readonly CheckedNode[], context: unknown): void {
    let type: LibraryType | undefined;
    for (const node of this.#mayMix ? [] : nodes.filter(({ op }) => op !== OPTIONAL_ENTRY)) {
      const next = this.#checker.check(node, context);
      const both = type === undefined ? next : this.#common(type, next);
      if (both === null) {
        const why = `expected type '${type?.name}' but found '${next.name}'`;
        note(this.#checker.createError(MIXED_ITEMS, why, node));
        return;
      }
      type = both;
    }
  }

  /** A type for both; null when there is none: a value of any type stands beside its like alone. */
  #common(a: LibraryType, b: LibraryType): LibraryType | null {
    if (isEmpty(a) || isEmpty(b)) return a.kind === b.kind ? a.unify(this.#checker.registry, b) : null;
    return a.name === b.name ? a : null;
  }

  /** Checks literal durations, times and patterns before anything runs. */
  #checkLiteral(name: string, args: unknown): void {
    const literal = Array.isArray(args) ? (args.at(0) as CheckedNode | undefined) : undefined;
    const problem = literal && literalProblem(name, writtenValue(literal));
    if (problem !== undefined) throw this.#checker.createError(problem.code, problem.text, literal);
  }

  /** The library takes any arguments where the receiver may be of any type, and tells only the kind of a receiver. */
  #checkCall(node: CheckedNode, name: string, receiver: CheckedNode, args: unknown, context: unknown): void {
    const given: readonly CheckedNode[] = Array.isArray(args) ? args : [];
    const candidates = this.#checker.registry.functionCandidates(true, name, given.length);
    const type = this.#checker.check(receiver, context);
    const types = given.map((one) => this.#checker.check(one, context));
    if (name === 'format') this.#checkFormat(node, receiver, given[0], context);
    const isForeign = FOREIGN.has(name) && type.name === 'bytes';
    if (!isForeign && candidates.findFunction(types, type) !== null) return;
    const applied = `'${type.name}.${name}(${types.map((one) => one.name).join(', ')})'`;
    throw this.#checker.createError(
      'no_matching_overload',
      `found no matching overload for ${applied}`,
      node,
    );
  }

  #checkFormat(
    node: CheckedNode,
    { op, args }: CheckedNode,
    list: CheckedNode | undefined,
    context: unknown,
  ): void {
    if (op !== 'value' || typeof args !== 'string' || list?.op !== 'list') return;
    const problem = formatProblem(args, list.args as readonly CheckedNode[], (one) =>
      this.#checker.check(one, context),
    );
    if (problem !== undefined)
      throw this.#checker.createError(INVALID_FORMAT, problem.text, problem.node ?? node);
  }

  /** `optional.or(optional)` and `optional.orValue(value)`, macros of the library, are calls to Kubernetes. */
  #checkAlternative(node: CheckedNode, context: unknown): void {
    const [name, receiver, [other]] = node.args as [string, CheckedNode, CheckedNode[]];
    if (other === undefined) return;
    const [type, given] = [this.#checker.check(receiver, context), this.#checker.check(other, context)];
    const expected = name === 'or' || type.kind === 'dyn' ? type : type.valueType;
    const isOptional = type.kind === 'optional' || type.kind === 'dyn';
    if (isOptional && expected?.unify(this.#checker.registry, given) !== null) return;
    const applied = `'${type.name}.${name}(${given.name})'`;
    throw this.#checker.createError(
      'no_matching_overload',
      `found no matching overload for ${applied}`,
      node,
    );
  }

  #checkBool(operand: CheckedNode, context: unknown): void {
    const { kind, name } = this.#checker.check(operand, context);
    if (kind === 'dyn' || name === 'bool') return;
    const why = `expected type 'bool' but found '${name}'`;
    note(this.#checker.createError('invalid_logical_operand', why, operand));
    operand.checkedType = this.#checker.getType('dyn');
  }

  /** `type(object)`: an object is a map to expressions that ask. */
  #checkTypeCall(node: CheckedNode, args: unknown, context: unknown): void {
    const [operand] = Array.isArray(args) ? (args as readonly CheckedNode[]) : [];
    if (operand === undefined || !this.#isObject(this.#checker.check(operand, context))) return;
    node.candidates = { async: false };
    node.handle = () => mapTypeOf(this.#checker.registry);
    node.checkedType = this.#checker.getType('type');
  }

  /** Objects of one type are compared with each other, and with null. */
  #checkEquality(node: CheckedNode, first: CheckedNode, second: CheckedNode, context: unknown): void {
    const [left, right] = [this.#checker.check(first, context), this.#checker.check(second, context)];
    if (!this.#isObject(left) && !this.#isObject(right)) return;
    const isOneType = left === right;
    const hasAny = [left, right].some(({ kind, name }) => kind === 'dyn' || name === 'null');
    if (!isOneType && !hasAny) throw this.#noOverload(node, `${left.name} ${node.op} ${right.name}`);
    node.left = first;
    node.right = second;
    node.candidates = { async: false };
    node.checkedType = this.#checker.getType('bool');
  }

  #noOverload(node: CheckedNode, applied: string): Error {
    return this.#checker.createError('no_such_overload', `no such overload: ${applied}`, node);
  }
}
