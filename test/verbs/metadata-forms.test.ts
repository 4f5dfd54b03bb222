import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { toApiVersion } from '../../src/api/names.ts';
import type { ObjectMeta } from '../../src/api/object-meta.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { negotiate } from '../../src/codec/negotiate.ts';
import { toStoredJson } from '../../src/codec/stored-object.ts';
import type { ResourceDefinition } from '../../src/registry/definition.ts';
import { BUILT_IN_RESOURCES } from '../../src/resources/all.ts';
import { toRevision } from '../../src/storage/revision.ts';
import { CachedEntry } from '../../src/storage/watch-cache/cached-entry.ts';
import type { Form, FormOptions } from '../../src/verbs/form.ts';
import { createForm } from '../../src/verbs/forms/create-form.ts';
import { ParsedForm } from '../../src/verbs/forms/parsed-form.ts';
import { RandomObjects } from '../codec/random-object.ts';

const types = loadTypes();
const HEAD = { resourceVersion: '7', continue: 'more', remainingItemCount: 3 };
const MEDIA_TYPES = ['application/json', 'application/vnd.kubernetes.protobuf'].map(
  (type) => `${type};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`,
);

function entriesOf(definition: ResourceDefinition): CachedEntry[] {
  const schema = types.message(definition.storage.type);
  return [1, 2, 3].map((seed) => {
    const { object } = decodeObject(new RandomObjects(seed).object(schema), schema);
    const json = toStoredJson({
      ...object,
      kind: definition.kind,
      apiVersion: toApiVersion(definition.storage),
      metadata: (object.metadata ?? {}) as ObjectMeta,
    });
    const key = { ...definition.storage, namespace: '', name: `n-${seed}` };
    return new CachedEntry({ key, uid: `u-${seed}`, revision: toRevision(seed), json }, () => ({}));
  });
}

async function shown(form: Form, entries: readonly CachedEntry[]): Promise<Buffer[]> {
  const { chunks, rest = [] } = await form.list(entries, HEAD);
  const events = entries.map((entry) => ({ type: 'MODIFIED' as const, entry, revision: toRevision(9) }));
  return [
    Buffer.concat([...chunks, ...rest]),
    ...entries.flatMap((entry) => form.object(entry)),
    ...events.map((event) => form.frames.encode(event)),
    form.frames.bookmark(toRevision(9), true),
  ];
}

const readJson = (bytes: Buffer): unknown => JSON.parse(bytes.toString());
const readBytes = (bytes: Buffer): unknown => bytes.toString('hex');

test('metadata is what parsing the whole object shows, in lists, alone and in events', async () => {
  for (const definition of BUILT_IN_RESOURCES) {
    const version = definition.versions.find(({ conversion }) => conversion === undefined);
    if (version === undefined) continue;
    for (const accept of MEDIA_TYPES) {
      const representation = negotiate(accept, { pretty: false, protobuf: true });
      const served = { definition, version };
      const options: FormOptions = {
        ...{ served, types, representation },
        dialect: 'k8s.io',
        includeObject: 'Metadata',
        now: Date.now,
      };
      const entries = entriesOf(definition);
      const quick = createForm(options);
      expect(quick).not.toBeInstanceOf(ParsedForm);
      const read = representation.format === 'json' ? readJson : readBytes;
      const expected = await shown(new ParsedForm(options), entries);
      expect((await shown(quick, entries)).map(read), definition.kind).toEqual(expected.map(read));
    }
  }
});
