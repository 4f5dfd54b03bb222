import type { Environment } from '@marcbachmann/cel-js';
import { spendOnSize } from './budget.ts';
import { celEqual } from './cel-equality.ts';
import {
  type CheckedNode,
  internalsOf,
  type LibraryChecker,
  type LibraryParser,
  type LibraryRegistry,
  type LibraryType,
  type ParsedNode,
} from './library-internals.ts';
import { typeNumber } from './numbered-types.ts';
import { CelObject, type ObjectType, showTypeAsConstructor, type ValueType } from './objects.ts';
import { typeOfEntry } from './optional-entries.ts';
import { present } from './written-maps.ts';

/**
 * Messages that an expression writes: `Object.spec{replicas: 3, ?paused: optional.none()}` (cel-spec, section Messages). The
 * library lacks them. Which types exist depends on the environment; without one that says so, there are none.
 */

type SimpleType = ValueType & { readonly kind: 'simple' };

/** A type of messages: with the fields that it lists, or with any when it lists none. */
export class MessageType implements ObjectType {
  readonly kind = 'object';
  readonly name: string;
  readonly #fields: Readonly<Record<string, SimpleType>> | undefined;

  constructor(name: string, fields?: Readonly<Record<string, SimpleType>>) {
    this.name = name;
    this.#fields = fields;
  }

  fieldType(name: string): SimpleType | undefined {
    if (this.#fields === undefined) return DYN;
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
  }
}

const DYN: SimpleType = { kind: 'simple', name: 'dyn' };

/** A message as an expression made it. */
export class CelMessage extends CelObject {
  readonly type: MessageType;
  readonly fields: ReadonlyMap<string, unknown>;

  constructor(type: MessageType, fields: ReadonlyMap<string, unknown>) {
    super();
    this.type = type;
    this.fields = fields;
  }

  /** An absent text reads as an empty one. */
  override get(name: string): unknown {
    const value = this.fields.get(name);
    if (value !== undefined) return value;
    return this.type.fieldType(name)?.name === 'string' ? '' : undefined;
  }

  override hasField(name: string): boolean {
    return this.fields.has(name);
  }

  override equals(other: unknown): boolean {
    if (!(other instanceof CelMessage)) return false;
    if (other.type.name !== this.type.name || other.fields.size !== this.fields.size) return false;
    return [...this.fields].every(([name, value]) => celEqual(value, other.fields.get(name)));
  }
}

showTypeAsConstructor(CelMessage);

/** The type of a name; undefined: there is none. */
export type FindMessageType = (name: string) => MessageType | undefined;

interface NamedType {
  readonly message: MessageType;
  readonly type: LibraryType;
}

/** Naming so many takes some 70 ms. Kubernetes has no limit. */
const MAX_TYPES = 1000;

/** The types that the expressions of one environment have named. The library knows them by numbers. */
class MessageTypes {
  readonly #find: FindMessageType;
  readonly #known = new Map<string, NamedType>();

  constructor(find: FindMessageType) {
    this.#find = find;
  }

  /** `registry`: of the environment. */
  find(name: string, registry: LibraryRegistry): NamedType | undefined {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const message = this.#find(name);
    if (message === undefined) return undefined;
    if (this.#known.size >= MAX_TYPES) throw new Error(`more than ${MAX_TYPES} types of objects are named`);
    const type = typeNumber(this.#known.size);
    const entry = { name: type.name, type, ctor: message, fields: fieldsOf(message, registry) };
    registry.objectTypes.set(type.name, entry);
    registry.objectTypesByConstructor.set(message, entry);
    registry.registerOperatorOverload(`${type.name} == ${type.name}: bool`, celEqual);
    const named = { message, type };
    this.#known.set(name, named);
    return named;
  }

  /** A text about types with their names in place of the numbers. */
  named(text: string): string {
    const names = new Map([...this.#known].map(([name, { type }]) => [type.name, name]));
    return text.replace(/\bselfType\d+\b/g, (number) => names.get(number) ?? number);
  }
}

const fieldsOf = (
  message: MessageType,
  registry: LibraryRegistry,
): Readonly<Record<string, LibraryType | undefined>> =>
  new Proxy<Record<string, LibraryType | undefined>>(
    {},
    {
      get: (_, name) => {
        const field = typeof name === 'string' ? message.fieldType(name) : undefined;
        return field && registry.getType(field.name);
      },
    },
  );

/** The constant that holds the types of an environment. No expression can write such a name. */
const TYPES = '@messages';

/** Lets expressions of the environment make messages. Returns what puts the names of their types into a text. */
export function allowMessages(environment: Environment, find: FindMessageType): (text: string) => string {
  const types = new MessageTypes(find);
  environment.registerConstant(TYPES, 'dyn', types);
  return (text) => types.named(text);
}

function findType(name: string, registry: LibraryRegistry): NamedType | undefined {
  const types = registry.variables.get(TYPES)?.value;
  return types instanceof MessageTypes ? types.find(name, registry) : undefined;
}

/** Adds messages to the library's parser. Patches its class once, for all environments. */
export function teachMessages(environment: Environment): void {
  const { Parser } = internalsOf(environment.clone());
  const { parsePrimary } = Parser.prototype;
  Parser.prototype.parsePrimary = function parse(this: LibraryParser): ParsedNode {
    const first = parseName.exec(textAt(this, IDENTIFIER));
    return first === null ? parsePrimary.call(this) : parseMessage(this, parsePrimary.call(this));
  };
}

/** The library's numbers of tokens. */
const [IDENTIFIER, LEFT_BRACE, RIGHT_BRACE, DOT, COMMA, COLON, QUESTION] = [
  5, 25, 26, 27, 28, 29, 30,
] as const;

/** The name of a type with the brace behind it. */
const parseName = /^[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*\s*\{/;

/** The text from the current token on, if it is of this kind; no more of it than a name has. */
function textAt(parser: LibraryParser, token: number): string {
  return parser.match(token) ? parser.input.slice(parser.pos, parser.pos + LONGEST_NAME) : '';
}

const LONGEST_NAME = 1000;

/** A field: its value, whether a `?` is in front of it, and where its colon is. */
type Entry = readonly [name: string, value: ParsedNode, isOptional: boolean, colon: number];

function parseMessage(parser: LibraryParser, first: ParsedNode): ParsedNode {
  let name = String(first.args);
  while (parser.match(DOT)) {
    parser.consume(DOT);
    name += `.${takeName(parser)}`;
  }
  const brace = parser.consume(LEFT_BRACE);
  const entries: Entry[] = [];
  while (!parser.match(RIGHT_BRACE)) {
    entries.push(parseEntry(parser));
    if (!parser.match(RIGHT_BRACE)) parser.consume(COMMA);
  }
  parser.consume(RIGHT_BRACE);
  return first.clone(MESSAGE, [name, entries, brace]).setMeta('async', false);
}

function parseEntry(parser: LibraryParser): Entry {
  const isOptional = parser.match(QUESTION);
  if (isOptional) parser.consume(QUESTION);
  const name = takeName(parser);
  const colon = parser.consume(COLON);
  return [name, parser.parseExpression(), isOptional, colon];
}

function takeName(parser: LibraryParser): string {
  const { value } = parser;
  parser.consume(IDENTIFIER);
  return String(value);
}

/** Kubernetes points at the brace of a message, and at the colon of a field. */
type Args = readonly [name: string, entries: readonly Entry[], brace: number];

const argsOf = ({ args }: CheckedNode): Args => args as Args;

/** The node's type, once it is checked. */
const typesOfNodes = new WeakMap<object, MessageType>();

const fits = (given: LibraryType, { name }: SimpleType): boolean =>
  name === 'dyn' || given.kind === 'dyn' || given.name === name;

interface Runner {
  run(node: ParsedNode, context: unknown): unknown;
}

const MESSAGE = {
  name: 'message',
  check(checker: LibraryChecker, node: CheckedNode, context: unknown): LibraryType {
    const [name, entries, brace] = argsOf(node);
    const refuse = (code: string, text: string, at: number): Error =>
      checker.createError(code, text, { input: node.input, pos: at, end: at });
    const found = findType(name, checker.registry);
    if (found === undefined) throw refuse('unknown_variable', `Unknown variable: ${name}`, brace);
    for (const [field, value, isOptional, colon] of entries) {
      const wanted = found.message.fieldType(field);
      if (wanted === undefined) throw refuse('no_such_key', `No such key: ${field}`, colon);
      const given = typeOfEntry(checker, value, context, isOptional);
      if (!fits(given, wanted))
        throw refuse(
          'field_type',
          `expected type of field '${field}' is '${wanted.name}' but provided type is '${given.name}'`,
          colon,
        );
    }
    typesOfNodes.set(node, found.message);
    return found.type;
  },
  evaluate(runner: Runner, node: CheckedNode, context: unknown): CelMessage {
    const [, entries] = argsOf(node);
    const type = typesOfNodes.get(node);
    if (type === undefined) throw new Error('a message runs before it is checked');
    spendOnSize(entries.length);
    const fields = new Map<string, unknown>();
    for (const [name, value, isOptional] of entries) {
      const given = runner.run(value, context);
      for (const one of isOptional ? present(given) : [given]) fields.set(name, one);
    }
    return new CelMessage(type, fields);
  },
};
