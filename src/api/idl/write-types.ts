import type { CompiledField, CompiledMessage, CompiledTypes } from './compiled.ts';

/**
 * TypeScript for the messages of the IDL: one module a .proto file, `core/v1.proto` → `types/core/v1.ts`, one type a message.
 *
 * A type describes what decoding (codec/decode.ts) has already checked, so that code reads `spec.strategy?.rollingUpdate`
 * and a misspelt field does not compile. Every field may be absent; none is ever undefined by assignment.
 *
 * They are type aliases, not interfaces: an alias without an index signature can still be passed where a JsonObject is
 * taken, so typed and untyped code meet without casts.
 */
interface TypeDocs {
  readonly description: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface TypeModule {
  /** Below src/api/types, for example `core/v1.ts`. */
  readonly path: string;
  readonly source: string;
}

/**
 * One module for each folder and version that has a message.
 *
 * @param aliases messages that are the same as one of another version, by full name: they are exported from there
 */
export function writeTypes(
  types: CompiledTypes,
  docs: Readonly<Record<string, TypeDocs>>,
  aliases: ReadonlyMap<string, string> = new Map(),
): TypeModule[] {
  const modules = new Map<string, string[]>();
  for (const name of Object.keys(types)) {
    const module = moduleOf(name);
    modules.set(module, [...(modules.get(module) ?? []), name]);
  }
  return [...modules].map(([module, names]) => {
    const writer = new ModuleWriter({ module, types, docs, aliases });
    const own = names.filter((name) => !aliases.has(name));
    const taken = names.flatMap((name) => aliases.get(name) ?? []);
    return { path: `${module}.ts`, source: writer.write(own, taken) };
  });
}

/** `core/v1.Pod` → `core/v1` */
const moduleOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));
const shortName = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** TypeScript types of decoded values. An int64 beyond 2^53 is a bigint (object/exact-json.ts). */
const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  int32: 'number',
  int64: 'number | bigint',
  bool: 'boolean',
  double: 'number',
  bytes: 'string',
  Time: 'string',
  MicroTime: 'string',
  Duration: 'string',
  Quantity: 'string',
  IntOrString: 'number | string',
  FieldsV1: 'JsonObject',
  RawExtension: 'JsonValue',
  JSON: 'JsonValue',
  StringList: 'string[]',
  SchemaOrArray: 'JSONSchemaProps | JSONSchemaProps[] | null',
  SchemaOrBool: 'JSONSchemaProps | boolean | null',
  SchemaOrStringArray: 'JSONSchemaProps | string[] | null',
};

interface ModuleSource {
  readonly module: string;
  readonly types: CompiledTypes;
  readonly docs: Readonly<Record<string, TypeDocs>>;
  readonly aliases: ReadonlyMap<string, string>;
}

class ModuleWriter {
  readonly #module: string;
  readonly #types: CompiledTypes;
  readonly #docs: Readonly<Record<string, TypeDocs>>;
  readonly #aliases: ReadonlyMap<string, string>;
  /** Imported names by module specifier. */
  readonly #needed = new Map<string, Set<string>>();

  constructor({ module, types, docs, aliases }: ModuleSource) {
    this.#module = module;
    this.#types = types;
    this.#docs = docs;
    this.#aliases = aliases;
  }

  /** `taken`: messages of other versions that this one also has. */
  write(names: readonly string[], taken: readonly string[]): string {
    const body = names.map((name) => this.#message(name)).join('\n');
    const source = `src/api/idl/${this.#module}.proto`;
    const head = `// Written from ${source} by the build. Change that file, not this one.\n`;
    const sections = [head, this.#importLines(), this.#exportLines(taken), body];
    return sections.filter((section) => section !== '').join('\n');
  }

  #exportLines(taken: readonly string[]): string {
    const modules = [...new Set(taken.map(moduleOf))].sort();
    const lines = modules.map((module) => {
      const names = taken.filter((name) => moduleOf(name) === module).map(shortName);
      return `export type { ${names.join(', ')} } from '${this.#specifier(module)}.ts';\n`;
    });
    return lines.join('');
  }

  #importLines(): string {
    const specifiers = [...this.#needed.keys()].sort();
    const lines = specifiers.map((from) => {
      const names = [...(this.#needed.get(from) ?? [])].sort();
      return `import type { ${names.join(', ')} } from '${from}';\n`;
    });
    return lines.join('');
  }

  #message(name: string): string {
    const message = this.#types[name];
    if (message === undefined) throw new Error(`the IDL has no message ${name}`);
    const lines = [...this.#typeMeta(message), ...this.#fields(name, message)];
    return `${comment(this.#docs[name]?.description, '')}export type ${shortName(name)} = {\n${lines.join('')}};\n`;
  }

  #typeMeta({ typed, fields }: CompiledMessage): string[] {
    if (typed !== true) return [];
    const isObject = fields.some((field) => field.type === 'meta/v1.ObjectMeta');
    const mark = isObject ? '' : '?';
    return [`  kind${mark}: string;\n`, `  apiVersion${mark}: string;\n`];
  }

  #fields(owner: string, { typed, fields }: CompiledMessage): string[] {
    return fields.flatMap((field) => {
      const inner = field.inline === true ? this.#types[field.type] : undefined;
      if (inner !== undefined) return this.#fields(field.type, inner);
      const always = typed === true && field.type === 'meta/v1.ObjectMeta';
      const said = comment(this.#docs[owner]?.fields[field.name], '  ');
      return [`${said}  ${property(field.name)}${always ? '' : '?'}: ${this.#fieldType(field)};\n`];
    });
  }

  #fieldType(field: CompiledField): string {
    const type = this.#presentType(field);
    return isNullWhenAbsent(field) ? `${type} | null` : type;
  }

  #presentType(field: CompiledField): string {
    const one = this.#valueType(field.type);
    if (field.map === true) return `{ [key: string]: ${one} }`;
    if (field.repeated !== true) return one;
    return one.includes('|') ? `(${one})[]` : `${one}[]`;
  }

  #valueType(type: string): string {
    if (type.includes('/')) return this.#reference(type);
    const scalar = SCALARS[type];
    if (scalar === undefined) throw new Error(`${this.#module}: ${type} is no scalar`);
    const [json] = /Json(?:Object|Value)/.exec(scalar) ?? [];
    if (json !== undefined) this.#needs('../../json.ts', json);
    if (scalar.includes('JSONSchemaProps')) this.#reference('apiextensions/v1.JSONSchemaProps');
    return scalar;
  }

  #reference(referred: string): string {
    const type = this.#aliases.get(referred) ?? referred;
    const module = moduleOf(type);
    const name = shortName(type);
    if (module === this.#module) return name;
    const own = `${this.#module}.${name}`;
    const isTaken = this.#types[own] !== undefined && this.#aliases.get(own) !== type;
    const local = isTaken ? `${capitalized(module)}${name}` : name;
    this.#needs(`${this.#specifier(module)}.ts`, isTaken ? `${name} as ${local}` : name);
    return local;
  }

  #specifier(module: string): string {
    const [folder] = this.#module.split('/');
    return module.startsWith(`${folder}/`) ? `./${module.slice(module.indexOf('/') + 1)}` : `../${module}`;
  }

  #needs(from: string, name: string): void {
    this.#needed.set(from, (this.#needed.get(from) ?? new Set()).add(name));
  }
}

/** `authentication/v1` → `AuthenticationV1`: the prefix of a name that both modules have. */
const capitalized = (module: string): string =>
  module.replace(/(?:^|\/)(.)/g, (_, first: string) => first.toUpperCase());

/** Where Go writes null for an absent field: a time that is no pointer; a list, map or text of bytes that is always written. */
function isNullWhenAbsent({ type, pointer, always, repeated, map }: CompiledField): boolean {
  const isNil = repeated === true || map === true || type === 'bytes' || type === 'StringList';
  return isNil ? always === true : (type === 'Time' || type === 'MicroTime') && pointer !== true;
}

/** `$ref` and `x-kubernetes-…` are no identifiers. */
const property = (name: string): string => (/^[\w$]+$/.test(name) ? name : `'${name}'`);

function comment(text: string | undefined, indent: string): string {
  return text === undefined || text === '' ? '' : `${indent}/** ${text.replaceAll('*/', '*\\/')} */\n`;
}
