import { readFileSync } from 'node:fs';
import { DEFAULT_MINOR } from '../../version.ts';
import { isAlive, type Minor } from '../emulation.ts';
import {
  type FieldSchema,
  isSchemaUnionKind,
  type ListType,
  type MessageDoc,
  type MessageSchema,
  type ScalarKind,
  type SchemaUnionKind,
  type ValueSchema,
} from '../schema.ts';
import {
  COMPILED_DOCS,
  COMPILED_TYPES,
  type CompiledField,
  type CompiledMessage,
  type CompiledTypes,
} from './compiled.ts';

/** The types of the API by IDL name. Schemas are made on demand: most requests need a few of the hundreds. */
export interface TypeLibrary {
  /** @throws Error for a name the IDL does not have, which is a mistake in this program */
  message(name: string): MessageSchema;
  has(name: string): boolean;
  docs(name: string): MessageDoc;
  names(): Iterable<string>;
  /** Fields of a message, on its own level, that only newer versions of Kubernetes have. */
  newerFields(name: string): readonly string[];
}

/**
 * Loads the types as a version of Kubernetes has them; 'all' has every field of every version. `served`: the types of resources
 * that are served, which may be of later versions.
 */
export function loadTypes(minor: Minor | 'all' = DEFAULT_MINOR, served: readonly string[] = []): TypeLibrary {
  const compiled = readCompiled<CompiledTypes>(COMPILED_TYPES);
  return new CompiledLibrary(minor === 'all' ? compiled : typesOf(compiled, minor, served));
}

/** Leaves out what the version lacks, so that it takes no memory. */
function typesOf(compiled: CompiledTypes, minor: Minor, served: readonly string[]): CompiledTypes {
  const types: CompiledTypes = {};
  for (const [name, message] of Object.entries(compiled))
    if (isAlive(message, minor)) types[name] = messageOf(message, minor);
  const wanted = served.filter((name) => types[name] === undefined).flatMap((name) => [name, `${name}List`]);
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    const message = compiled[name];
    if (message === undefined || types[name] !== undefined) continue;
    types[name] = messageOf(message, minor);
    wanted.push(...message.fields.map(({ type }) => type));
  }
  return types;
}

function messageOf(message: CompiledMessage, minor: Minor): CompiledMessage {
  if (message.fields.every((field) => isSameInAll(field) && isAlive(field, minor))) return message;
  const alive = message.fields.filter((field) => isAlive(field, minor));
  const newer = message.fields.filter(({ since = minor }) => since > minor).map(({ name }) => name);
  return {
    ...message,
    fields: alive.map((field) =>
      withDefaultOf(withRequirementOf(withZeroOf(withValuesOf(field, minor), minor), minor), minor),
    ),
    ...(newer.length === 0 ? {} : { newer }),
  };
}

const isSameInAll = ({
  enumSince,
  omittedSince,
  requiredLife,
  defaultPublishedSince,
}: CompiledField): boolean =>
  enumSince === undefined &&
  omittedSince === undefined &&
  requiredLife === undefined &&
  defaultPublishedSince === undefined;

const withDefaultOf = (field: CompiledField, minor: Minor): CompiledField =>
  minor < (field.defaultPublishedSince ?? minor) ? { ...field, hidesDefault: true } : field;

const withRequirementOf = (field: CompiledField, minor: Minor): CompiledField =>
  field.requiredLife === undefined
    ? field
    : { ...field, publishedRequired: isAlive(field.requiredLife, minor) };

const withZeroOf = (field: CompiledField, minor: Minor): CompiledField =>
  field.omittedSince === undefined || minor < field.omittedSince ? field : { ...field, omitted: true };

const withValuesOf = (field: CompiledField, minor: Minor): CompiledField =>
  field.enumSince === undefined || field.enum === undefined
    ? field
    : { ...field, enum: field.enum.filter((value) => (field.enumSince?.[value] ?? minor) <= minor) };

function readCompiled<T>(path: string): T {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch (error) {
    throw new Error(`${path} cannot be read; run "npm run build"`, { cause: error });
  }
}

const NO_DOC: MessageDoc = { description: '', fields: {} };

class CompiledLibrary implements TypeLibrary {
  readonly #compiled: CompiledTypes;
  readonly #messages = new Map<string, MessageSchema>();
  /** Descriptions are a third of the size, and only `kubectl explain` needs them, so they are freed when memory is short. */
  #docs: WeakRef<Record<string, MessageDoc>> | undefined;

  constructor(compiled: CompiledTypes) {
    this.#compiled = compiled;
  }

  has(name: string): boolean {
    return this.#compiled[name] !== undefined;
  }

  names(): Iterable<string> {
    return Object.keys(this.#compiled);
  }

  newerFields(name: string): readonly string[] {
    return this.#compiled[name]?.newer ?? [];
  }

  docs(name: string): MessageDoc {
    let docs = this.#docs?.deref();
    if (docs === undefined) {
      docs = readCompiled<Record<string, MessageDoc>>(COMPILED_DOCS);
      this.#docs = new WeakRef(docs);
    }
    return docs[name] ?? NO_DOC;
  }

  message(name: string): MessageSchema {
    const known = this.#messages.get(name);
    if (known !== undefined) return known;
    const compiled = this.#compiled[name];
    if (compiled === undefined) throw new Error(`the IDL has no type ${name}`);
    // Types may refer to themselves (JSONSchemaProps), so the schema is registered before its fields.
    const fields = new Map<string, FieldSchema>();
    const schema: MessageSchema = {
      name,
      definition: toDefinitionName(name),
      fields,
      atomic: compiled.atomic ?? false,
      typed: compiled.typed ?? false,
      preserveUnknownFields: false,
      unions: compiled.unions ?? [],
    };
    this.#messages.set(name, schema);
    this.#addFields(fields, compiled, []);
    return schema;
  }

  #addFields(fields: Map<string, FieldSchema>, compiled: CompiledMessage, nesting: readonly number[]): void {
    for (const field of compiled.fields) {
      if (field.inline === true) {
        const inner = this.#compiled[field.type];
        const deeper = [...nesting, field.number ?? 0];
        if (inner !== undefined) this.#addFields(fields, inner, deeper);
      } else fields.set(field.name, this.#toField(field, nesting));
    }
  }

  #toField(field: CompiledField, nesting: readonly number[]): FieldSchema {
    const value = this.#toValue(field);
    const { listType, listMapKeys } = parseList(field, value);
    const preset = toDefault(field);
    return {
      name: field.name,
      number: field.number,
      nesting,
      value,
      required: field.required ?? false,
      publishedRequired: field.publishedRequired ?? field.required ?? false,
      immutable: field.immutable ?? false,
      zero: toZero(field, value),
      isPointer: field.pointer === true,
      default: preset,
      publishedDefault: field.documentedDefault ?? (field.hidesDefault === true ? undefined : preset),
      listType,
      listMapKeys,
      atomic: field.atomic ?? false,
      granular: field.granular ?? false,
      patchStrategy: [
        ...(field.merge === undefined ? [] : (['merge'] as const)),
        ...(field.replaced === true ? (['replace'] as const) : []),
        ...(field.retainKeys === true ? (['retainKeys'] as const) : []),
      ],
      patchMergeKey: field.merge === '' ? undefined : field.merge,
      gate: field.gate,
      ungated: field.ungated ?? [],
      dropEmpty: field.dropEmpty ?? false,
    };
  }

  #toValue(field: CompiledField): ValueSchema {
    const one = this.#toSingle(field);
    if (field.map === true) return { kind: 'map', values: one };
    return field.repeated === true ? { kind: 'list', items: one, wrapped: false } : one;
  }

  #toSingle({ type, enum: values, pointer }: CompiledField): ValueSchema {
    if (type === 'StringList') return { kind: 'list', items: { kind: 'string' }, wrapped: true };
    if (type.includes('/')) return this.#toMessage('message', type);
    if (isSchemaUnionKind(type)) return this.#toMessage(type, 'apiextensions/v1.JSONSchemaProps');
    const kind = type as ScalarKind;
    if (values === undefined) return { kind };
    return { kind, enum: values, ...(pointer === true ? { emptyCounts: true } : {}) };
  }

  /** Resolved lazily, so that reading one type does not read all types it refers to. */
  #toMessage(kind: 'message' | SchemaUnionKind, type: string): ValueSchema {
    const library = this;
    return {
      kind,
      get message(): MessageSchema {
        const message = library.message(type);
        Object.defineProperty(this, 'message', { value: message });
        return message;
      },
    };
  }
}

function parseList(
  { list }: CompiledField,
  value: ValueSchema,
): { listType: ListType | undefined; listMapKeys: string[] } {
  if (value.kind !== 'list') return { listType: undefined, listMapKeys: [] };
  if (list?.startsWith('map: ') === true) return { listType: 'map', listMapKeys: list.slice(5).split(', ') };
  return { listType: list === 'set' ? 'set' : 'atomic', listMapKeys: [] };
}

/** Go writes a struct without a pointer even when it is empty. */
function toZero(field: CompiledField, value: ValueSchema): 'omit' | 'keep' | 'always' {
  if (field.always === true) return 'always';
  if (field.pointer === true) return 'keep';
  if (field.omitted === true) return 'omit';
  return STRUCTS.has(value.kind) ? 'always' : 'omit';
}

/** The IDL writes messages and lists as JSON: `"{}"`. */
function toDefault({ default: preset, type, repeated }: CompiledField): unknown {
  const isJson = typeof preset === 'string' && (type.includes('/') || repeated === true);
  return isJson ? JSON.parse(preset) : preset;
}

/** Folders whose OpenAPI name is not `io.k8s.api.<folder>`. */
const DEFINITION_PREFIXES: Readonly<Record<string, string>> = {
  meta: 'io.k8s.apimachinery.pkg.apis.meta',
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  apiregistration: 'io.k8s.kube-aggregator.pkg.apis.apiregistration',
};

/** `core/v1.Pod` → `io.k8s.api.core.v1.Pod`. */
export function toDefinitionName(name: string): string {
  const [folder = '', rest = ''] = name.split('/');
  return `${DEFINITION_PREFIXES[folder] ?? `io.k8s.api.${folder}`}.${rest}`;
}

/** Kinds that Go writes as a struct, so that omitempty has no effect on them. */
const STRUCTS: ReadonlySet<string> = new Set([
  'message',
  'Time',
  'MicroTime',
  'Quantity',
  'IntOrString',
  'RawExtension',
]);
