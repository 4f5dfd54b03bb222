import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { PROJECT } from '../../project.ts';
import { type Life, type Minor, parseMinor } from '../emulation.ts';
import type { CompiledField, CompiledMessage, CompiledTypes } from './compiled.ts';
import { COMPILED_DOCS, COMPILED_TYPES } from './compiled.ts';
import { addTaken, parseSameAs, type SameAs, unchanged } from './same-as.ts';
import { type TypeModule, writeTypes } from './write-types.ts';

/**
 * The build step of the IDL: reads every .proto below src/api/idl and writes two JSON files, one with the types and one
 * with what is said about them, and a TypeScript module for each .proto file (src/api/types). protobufjs parses; what the
 * custom options mean is decided here. It runs before tsc, which needs what it writes.
 *
 * `--check` writes no TypeScript and fails when a module in src/api/types is not what the IDL says.
 *
 * Options of a field: required, immutable (no update changes it), pointer (absence differs from zero), always (written even when empty), default, unpublished_default, enum,
 * list ("set", or "map: key, key"), atomic, granular (although its message is atomic), merge (strategic merge key, "" for scalars), replace (a strategic merge patch
 * replaces it), retain_keys, inline (flattened in JSON), json_only (no protobuf form), json_name. Options of a message: typed
 * (begins with kind and apiVersion), atomic, union ("discriminator: field=value, …", or without one). Option of a file: same_as (same-as.ts).
 *
 * A default is the constant that an absent field takes, regardless of other fields; that of a message or a list is written as
 * JSON. OpenAPI tells clients of a default, as Kubernetes does for some fields, and not of an unpublished_default.
 * default_published_since: the first version that does. documented_default: OpenAPI has it, and decoding does not apply it.
 *
 * Features that are off (registry/gated-fields.ts): gate ("Gate", "Gate|OtherGate" where one of both is enough, "Gate: field,
 * field" where a stored object that has one of these fields uses the feature too), gate_off (the value that takes the place of
 * another while the gate is closed), drop_empty (the field goes when a closed gate leaves nothing in it), ungated ("field,
 * field": their gates do not apply below this field).
 *
 * Versions of Kubernetes (api/emulation.ts), of a field and of a message: since (the first that has it: "1.33"), until (the first
 * that has it no more). enum_since names values of an enumeration that older versions lack: "1.35: Gt, Lt". omitted_since: the
 * first that leaves the field out of JSON when it is empty. required_since, required_until: the first version whose OpenAPI document
 * has the field among those that are required, and the first that has it there no more.
 */
const SOURCE = fileURLToPath(new URL('src/api/idl/', PROJECT));
const TYPES = fileURLToPath(new URL('src/api/types/', PROJECT));

type Options = Readonly<Record<string, unknown>>;
type Docs = Record<string, { description: string; fields: Record<string, string> }>;

function compile(): void {
  const types: CompiledTypes = {};
  const docs: Docs = {};
  const takings: SameAs[] = [];
  for (const file of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).sort()) {
    if (file.endsWith('.proto')) takings.push(...compileFile(file, types, docs));
  }
  const origins = addTaken(takings, types);
  for (const [name, origin] of origins) docs[name] = docs[origin] ?? { description: '', fields: {} };
  mkdirSync(dirname(COMPILED_TYPES), { recursive: true });
  writeFileSync(COMPILED_TYPES, JSON.stringify(types));
  writeFileSync(COMPILED_DOCS, JSON.stringify(docs));
  const stale = writeTypes(types, docs, onlyOf(origins, unchanged(origins, types))).filter(isStale);
  if (process.argv.includes('--check')) assertCurrent(stale);
  else for (const module of stale) writeModule(module);
}

const onlyOf = (origins: ReadonlyMap<string, string>, names: ReadonlySet<string>): Map<string, string> =>
  new Map([...origins].filter(([name]) => names.has(name)));

function isStale({ path, source }: TypeModule): boolean {
  const file = join(TYPES, path);
  return !existsSync(file) || readFileSync(file, 'utf8') !== source;
}

function assertCurrent(stale: readonly TypeModule[]): void {
  if (stale.length === 0) return;
  const names = stale.map(({ path }) => `src/api/types/${path}`).join(', ');
  throw new Error(`not what the IDL says: ${names}; run "npm run build" and commit what it writes`);
}

function writeModule({ path, source }: TypeModule): void {
  const file = join(TYPES, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source);
}

/** Adds what the file declares, and returns what it takes from another version. */
function compileFile(file: string, types: CompiledTypes, docs: Docs): SameAs[] {
  const source = readFileSync(join(SOURCE, file), 'utf8');
  const { root } = protobuf.parse(source, { keepCase: true, alternateCommentMode: true });
  const folder = file.replace(/\.proto$/, '').replaceAll('\\', '/');
  const namespace = root.lookup(folder.replace('/', '.'));
  if (!(namespace instanceof protobuf.Namespace))
    throw new Error(`${file}: package must be ${folder.replace('/', '.')}`);
  for (const type of namespace.nestedArray) {
    if (!(type instanceof protobuf.Type)) continue;
    const name = `${folder}.${type.name}`;
    types[name] = compileMessage(type, folder);
    docs[name] = {
      description: oneLine(type.comment),
      fields: Object.fromEntries(
        type.fieldsArray
          .filter((field) => field.comment != null)
          .map((field) => [jsonName(field), oneLine(field.comment)]),
      ),
    };
  }
  const sameAs: unknown = namespace.options?.['(same_as)'];
  return typeof sameAs === 'string' ? parseSameAs(folder, sameAs) : [];
}

/** Joins lines: `kubectl explain` wraps them to the terminal. */
const oneLine = (comment: string | null): string => (comment ?? '').replaceAll('\n', ' ');

function compileMessage(type: protobuf.Type, folder: string): CompiledMessage {
  const options: Options = type.options ?? {};
  const union = options['(union)'];
  return {
    fields: type.fieldsArray.map((field) => compileField(field, folder)),
    ...(options['(typed)'] === true ? { typed: true } : {}),
    ...(options['(atomic)'] === true ? { atomic: true } : {}),
    ...(typeof union === 'string' ? { unions: [parseUnion(union)] } : {}),
    ...compileLife(options),
  };
}

const jsonName = (field: protobuf.Field): string => {
  const given = field.options?.json_name;
  return typeof given === 'string' ? given : field.name;
};

function compileField(field: protobuf.Field, folder: string): CompiledField {
  const options: Options = field.options ?? {};
  const text = (name: string): string | undefined => {
    const value = options[`(${name})`];
    return typeof value === 'string' ? value : undefined;
  };
  const flag = (name: string): boolean => options[`(${name})`] === true;
  const list = text('list');
  const merge = text('merge');
  const values = text('enum');
  const ungated = text('ungated');
  return {
    name: jsonName(field),
    type: qualify(field.type, folder),
    ...(flag('json_only') ? {} : { number: field.id }),
    ...(field.repeated ? { repeated: true } : {}),
    ...(field instanceof protobuf.MapField ? { map: true } : {}),
    ...(flag('required') ? { required: true } : {}),
    ...(flag('pointer') ? { pointer: true } : {}),
    ...(flag('always') ? { always: true } : {}),
    ...(flag('immutable') ? { immutable: true } : {}),
    ...(flag('inline') ? { inline: true } : {}),
    ...(flag('atomic') ? { atomic: true } : {}),
    ...(flag('granular') ? { granular: true } : {}),
    ...(flag('replace') ? { replaced: true } : {}),
    ...(flag('retain_keys') ? { retainKeys: true } : {}),
    ...compileDefault(options),
    ...(values === undefined ? {} : { enum: values.split(', ') }),
    ...(list === undefined ? {} : { list }),
    ...(merge === undefined ? {} : { merge }),
    ...(ungated === undefined ? {} : { ungated: ungated.split(', ') }),
    ...(flag('drop_empty') ? { dropEmpty: true } : {}),
    ...compileGate(text('gate'), text('gate_off')),
    ...compileLife(options),
    ...compileEnumSince(text('enum_since')),
    ...compileOmittedSince(options),
    ...compileRequirement(options),
  };
}

function compileDefault(
  options: Options,
): Pick<CompiledField, 'default' | 'hidesDefault' | 'documentedDefault' | 'defaultPublishedSince'> {
  const { '(default)': published, '(unpublished_default)': unpublished } = options;
  const documented = options['(documented_default)'];
  if (documented !== undefined) return { documentedDefault: documented };
  const since = options['(default_published_since)'];
  if (published !== undefined)
    return {
      default: published,
      ...(since === undefined ? {} : { defaultPublishedSince: readMinor(since) }),
    };
  return unpublished === undefined ? {} : { default: unpublished, hidesDefault: true };
}

function compileLife(options: Options): Life {
  const { '(since)': since, '(until)': until } = options;
  return {
    ...(since === undefined ? {} : { since: readMinor(since) }),
    ...(until === undefined ? {} : { until: readMinor(until) }),
  };
}

function compileEnumSince(text: string | undefined): Pick<CompiledField, 'enumSince'> {
  if (text === undefined) return {};
  const [version, values = ''] = text.split(': ');
  const since = readMinor(version);
  return { enumSince: Object.fromEntries(values.split(', ').map((value) => [value, since])) };
}

function compileOmittedSince({ '(omitted_since)': since }: Options): Pick<CompiledField, 'omittedSince'> {
  return since === undefined ? {} : { omittedSince: readMinor(since) };
}

function compileRequirement(options: Options): Pick<CompiledField, 'requiredLife'> {
  const { '(required_since)': since, '(required_until)': until } = options;
  if (since === undefined && until === undefined) return {};
  return { requiredLife: compileLife({ '(since)': since, '(until)': until }) };
}

function readMinor(version: unknown): Minor {
  const minor = typeof version === 'string' ? parseMinor(version) : undefined;
  if (minor === undefined)
    throw new Error(`${JSON.stringify(version)} is no emulated version, such as "1.33"`);
  return minor;
}

const GATE = /^(?<gates>\w+(?:\|\w+)*)(?:: (?<fields>\w+(?:, \w+)*))?$/;

function compileGate(gate: string | undefined, off: string | undefined): Pick<CompiledField, 'gate'> {
  if (gate === undefined) return {};
  const { gates, fields } = GATE.exec(gate)?.groups ?? {};
  if (gates === undefined)
    throw new Error(`gate = ${JSON.stringify(gate)}: must be "Gate", "Gate|Gate" or "Gate: field, field"`);
  return {
    gate: {
      anyOf: gates.split('|'),
      usedBy: fields === undefined ? [] : fields.split(', '),
      ...(off === undefined ? {} : { off }),
    },
  };
}

/** `Container` in core/v1 → `core/v1.Container`; `meta.v1.Time` → `meta/v1.Time`; scalars stay. */
function qualify(type: string, folder: string): string {
  const parts = type.split('.');
  if (parts.length === 3) return `${parts[0]}/${parts[1]}.${parts[2]}`;
  return SCALARS.has(type) ? type : `${folder}.${type}`;
}

const SCALARS: ReadonlySet<string> = new Set(
  (
    'string int32 int64 bool double bytes Time MicroTime Duration Quantity IntOrString FieldsV1 RawExtension JSON ' +
    'SchemaOrArray SchemaOrBool SchemaOrStringArray StringList'
  ).split(' '),
);

function parseUnion(text: string): { discriminator?: string; fields: Record<string, string> } {
  const [fields = '', discriminator] = text.split(': ').toReversed();
  return {
    ...(discriminator === undefined ? {} : { discriminator }),
    fields: Object.fromEntries(fields.split(', ').map((pair) => pair.split('='))),
  };
}

compile();
