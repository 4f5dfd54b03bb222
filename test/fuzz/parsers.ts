import fc from 'fast-check';
import { stringify } from 'yaml';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import type { MessageSchema } from '../../src/api/schema.ts';
import { StatusError } from '../../src/api/status.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { DecodeError, MalformedMessage } from '../../src/codec/decode-error.ts';
import { parseJsonText } from '../../src/codec/json-text.ts';
import { bodyFormat, negotiate } from '../../src/codec/negotiate.ts';
import { decodeEnvelope, encodeEnvelope } from '../../src/codec/protobuf/envelope.ts';
import { parseYamlText } from '../../src/codec/yaml-text.ts';
import { equal } from '../../src/object/equality.ts';
import { parseExactly, parsePlainly } from '../../src/object/exact-json.ts';
import { applyJsonPatch } from '../../src/object/json-patch.ts';
import { parseFieldSet, sorted, union } from '../../src/object/managed-fields/field-set.ts';
import { applyMergePatch, applyStrategicMerge } from '../../src/object/merge-patch.ts';
import { PatchError } from '../../src/object/patch-error.ts';
import {
  formatLabelRequirements,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
} from '../../src/object/selectors.ts';
import { encodeContinueToken, parseContinueToken } from '../../src/storage/continue-token.ts';
import { pemBlocks } from '../../src/x509/pem.ts';
import { RandomObjects } from '../codec/random-object.ts';
import { threadMs } from '../kit/thread-time.ts';

/** What a parser of foreign input promises for every input. */
export interface Promised {
  readonly name: string;
  readonly property: fc.IProperty<unknown[]>;
}

const promised = <Values extends [unknown, ...unknown[]]>(
  name: string,
  arbitraries: { [At in keyof Values]: fc.Arbitrary<Values[At]> },
  holds: (...values: Values) => void,
): Promised => ({
  name,
  property: fc.property(...arbitraries, (...values) => holds(...(values as Values))) as fc.IProperty<
    unknown[]
  >,
});

type Refusal = abstract new (...args: never[]) => Error;

/** The result, or undefined for what was refused as it should be: all other errors, and much time, are faults. */
function orRefused<Result>(refusals: readonly Refusal[], work: () => Result): Result | undefined {
  const begun = threadMs();
  try {
    return work();
  } catch (error) {
    if (!refusals.some((refusal) => error instanceof refusal)) throw error;
    return undefined;
  } finally {
    const ms = threadMs() - begun;
    must(ms <= MAX_WORK_MS, `it took ${ms} ms`);
  }
}

/** Texts here have some hundred characters: a hundredth of this would be much. */
const MAX_WORK_MS = 2000;

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

const json = (value: unknown): string => JSON.stringify(value);
const same = (a: unknown, b: unknown, what: string): void =>
  must(equal(a, b), `${what}: ${json(a)} and ${json(b)}`);

/** Texts made of what means something to a parser, and of anything else. */
const textOf = (...pieces: string[]): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...pieces) },
        fc.string({ unit: 'binary', maxLength: 4 }),
      ),
      {
        maxLength: 40,
      },
    )
    .map((parts) => parts.join(''));

const keys = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'name',
    '__proto__',
    'constructor',
    '',
    '\\',
    'k\\\\',
    'k\\{',
    '"',
    '\n',
    '0',
    '$patch',
    'é',
  ),
  fc.string({ unit: 'grapheme', maxLength: 5 }),
);
const { value: values } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<JsonValue>(null, true, false, 0, 1, -1, 1.5, 1e300, 9007199254740993n, 'x', '\\', '1'),
    fc.string({ maxLength: 6 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(keys, tie('value')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  ),
}));
const objects = fc
  .array(fc.tuple(keys, values), { maxLength: 5 })
  .map((entries) => Object.fromEntries(entries));

const types = loadTypes();
const SCHEMAS = [
  'core/v1.Pod',
  'core/v1.ConfigMap',
  'apps/v1.Deployment',
  'meta/v1.DeleteOptions',
  'apiextensions/v1.CustomResourceDefinition',
].map((name): MessageSchema => types.message(name));
const schemas = fc.constantFrom(...SCHEMAS);
const typed = fc
  .tuple(schemas, fc.integer())
  .map(([schema, seed]) => ({ schema, object: new RandomObjects(seed).object(schema) }));

const JSON_TEXT = textOf(
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '"a"',
  '"\\u0061"',
  '"a":1',
  '{"a":',
  '1',
  '-0',
  '1e9',
  'null',
  ' ',
  '12345678901234567890',
);
const YAML_TEXT = textOf(
  'a',
  ': ',
  '- ',
  '\n',
  '  ',
  '&x ',
  '*x',
  '<<',
  '!!binary ',
  '|',
  '>',
  "'",
  '"',
  '{',
  '}',
  '[',
  ']',
  ',',
  '# ',
  '---\n',
  '0x1F',
  'yes',
  '1_000',
  '.inf',
  '2001-01-01',
);
const PATHS = fc
  .array(fc.constantFrom('a', 'b', '0', '1', '-', '~0', '~1', '', '__proto__', '-1', 'metadata'), {
    maxLength: 4,
  })
  .map((steps) => steps.map((step) => `/${step}`).join(''));
const operations = fc.array(
  fc.record(
    {
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
      path: PATHS,
      from: PATHS,
      value: values,
    },
    { requiredKeys: ['op', 'path'] },
  ),
  { maxLength: 6 },
);

/** Some bytes of a good message made others. */
const damaged = fc
  .tuple(typed, fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }))
  .map(([{ schema, object }, changes]) => {
    const bytes = encodeEnvelope(decodeObject(object, schema).object, schema);
    for (const [at, byte] of changes) bytes[4 + (at % Math.max(1, bytes.length - 4))] = byte;
    return { schema, bytes };
  });

export const PROMISES: readonly Promised[] = [
  promised('JSON is what was written, its keys and long integers included', [values], (value) => {
    const text = json(value);
    const { value: read } = parseJsonText(Buffer.from(text));
    must(json(read) === json(JSON.parse(text)) || equal(read, value), `read as ${json(read)}`);
    must(json(parseExactly(text)) === json(read), 'the exact and the quick way differ');
  }),
  promised('text is JSON for this server where it is for JavaScript', [JSON_TEXT], (text) => {
    const bytes = Buffer.from(text);
    const mine = orRefused([SyntaxError, StatusError], () => parseJsonText(bytes));
    const theirs = orRefused([SyntaxError], () => ({ value: JSON.parse(bytes.toString()) as JsonValue }));
    must((mine === undefined) === (theirs === undefined), 'one reads it and the other does not');
    if (theirs !== undefined) same(json(parsePlainly(text)), json(theirs.value), 'read otherwise');
  }),
  promised('a repeated key is found at every depth', [objects, keys], (object, key) => {
    const rest = json(object).slice(1);
    const text = `{${json(key)}:1,${json(key)}:2${rest === '}' ? '' : ','}${rest}`;
    must(parseJsonText(Buffer.from(text)).duplicates.includes(key), `not found in ${text}`);
    must(parseJsonText(Buffer.from(json(object))).duplicates.length === 0, 'found where there is none');
  }),
  promised('JSON written as YAML is the same', [objects], (object) => {
    const plain = JSON.parse(json(object)) as JsonValue;
    // Kubernetes reads more plain texts as numbers and dates than YAML 1.1 has: 0X0, 1:30.
    const quoted = { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE' } as const;
    const text = stringify(plain, { version: '1.1', aliasDuplicateObjects: false, ...quoted });
    same(json(parseYamlText(Buffer.from(`# YAML\n${text}`)).value), json(plain), 'YAML differs');
  }),
  promised('text is YAML or a SyntaxError', [YAML_TEXT], (text) => {
    orRefused([SyntaxError, StatusError], () => parseYamlText(Buffer.from(text)));
  }),
  promised('protobuf of any object is read as it was written', [typed], ({ schema, object }) => {
    const { object: decoded } = decodeObject(object, schema);
    const read = (from: JsonObject): JsonObject =>
      decodeObject(decodeEnvelope(encodeEnvelope(from, schema), schema), schema).object;
    const once = read(decoded);
    same(json(read(once)), json(once), 'a second time it differs');
  }),
  promised('bytes are protobuf or refused', [schemas, fc.uint8Array({ maxLength: 200 })], (schema, bytes) => {
    orRefused([SyntaxError, StatusError, DecodeError, MalformedMessage], () =>
      decodeObject(decodeEnvelope(Buffer.concat([Buffer.from('k8s\0'), bytes]), schema), schema),
    );
  }),
  promised('damaged protobuf is read or refused', [damaged], ({ schema, bytes }) => {
    orRefused([SyntaxError, StatusError, DecodeError, MalformedMessage], () =>
      decodeObject(decodeEnvelope(bytes, schema), schema),
    );
  }),
  promised(
    'an object of any shape is decoded or refused, and decoded twice is the same',
    [schemas, objects],
    (schema, object) => {
      const once = orRefused([DecodeError], () => decodeObject(object, schema).object);
      if (once !== undefined) same(decodeObject(once, schema).object, once, 'a second time it differs');
    },
  ),
  promised(
    'label selectors are read or refused, and read again from their own text',
    [textOf('a', 'b/c', '=', '==', '!=', '!', ' in ', ' notin ', '(', ')', ',', '>', '<', '1', ' ')],
    (text) => {
      const requirements = orRefused([SelectorError], () => parseLabelSelector(text));
      if (requirements === undefined || requirements.length === 0) return;
      const again = formatLabelRequirements(requirements);
      if (requirements.every(({ values: all }) => all.length !== 1 || all[0] !== ''))
        same(formatLabelRequirements(parseLabelSelector(again)), again, 'read otherwise');
    },
  ),
  promised(
    'field selectors are read or refused',
    [textOf('a', '.', '=', '==', '!=', ',', '\\', '\\,', '\\=', ' ')],
    (text) => {
      orRefused([SelectorError], () => parseFieldSelector(text));
    },
  ),
  promised(
    'a JSON patch applies or is refused, and leaves what it was applied to',
    [objects, fc.oneof(operations, values)],
    (object, patch) => {
      const before = json(object);
      orRefused([PatchError, StatusError], () => applyJsonPatch(object, patch as JsonValue));
      must(json(object) === before, 'the object was changed');
    },
  ),
  promised(
    'a merge patch takes away what is null and leaves the rest',
    [objects, objects],
    (object, patch) => {
      const before = json(object);
      const merged = applyMergePatch(object, patch) as JsonObject;
      must(json(object) === before, 'the object was changed');
      for (const key of Object.keys(patch))
        must(Object.hasOwn(merged, key) === (patch[key] !== null), `${key} is wrong`);
      same(json(applyMergePatch(merged, patch)), json(merged), 'applied twice it differs');
    },
  ),
  promised(
    'a strategic merge applies or is refused, and leaves what it was applied to',
    [typed, objects, typed],
    ({ schema, object }, patch, other) => {
      const before = json(object);
      orRefused([PatchError], () => applyStrategicMerge(object, patch, schema));
      orRefused([PatchError], () => applyStrategicMerge(object, other.object, schema));
      must(json(object) === before, 'the object was changed');
    },
  ),
  promised('sets of fields are read or refused, and a set with itself is itself', [values], (value) => {
    const set = parseFieldSet(value);
    if (set === undefined) return;
    same(sorted(union(set, set)), sorted(set), 'the union differs');
    same(parseFieldSet(JSON.parse(json(set))), set, 'read otherwise');
  }),
  promised(
    'PEM never fails',
    [textOf('-----BEGIN ', '-----END ', 'A', '-----', '\n', '\r\n', 'AAAA', '=', ': ')],
    (text) => {
      for (const { der } of pemBlocks(text)) must(der.length >= 0, 'no bytes');
    },
  ),
  promised(
    'Accept and Content-Type are understood or refused',
    [textOf('application/', 'json', 'yaml', '*/*', ';', 'as=Table', 'g=', 'v=v1', ',', 'q=0.1', ' ')],
    (text) => {
      orRefused([StatusError], () => negotiate(text, { pretty: false, protobuf: true }));
      orRefused([StatusError], () => bodyFormat(text));
    },
  ),
  promised(
    'continue tokens are read as they were made, others refused',
    [fc.string(), fc.bigInt({ min: 1n, max: 2n ** 62n }), fc.stringMatching(/^[a-z]{1,20}$/)],
    (text, revision, name) => {
      parseContinueToken(text, true);
      parseContinueToken(Buffer.from(text).toString('base64url'), false);
      const after = parseContinueToken(
        encodeContinueToken({ revision, after: `\0${name}` } as Parameters<typeof encodeContinueToken>[0]),
        false,
      );
      must(after === undefined || after.revision === revision, 'another revision');
    },
  ),
];
