import { existsSync, readFileSync, statSync } from 'node:fs';
import { parseYamlText } from '../../codec/yaml-text.ts';
import { isObject } from '../../object/json-values.ts';
import { type FlagSet, text, UsageError, type ValuesOf } from '../../options/flag.ts';
import { hidePasswords } from '../../util/hidden-passwords.ts';
import { ApiClient } from './api-client.ts';
import { ApiSource } from './api-source.ts';
import { FileSource } from './file-source.ts';
import { readKine } from './kine.ts';
import { readEtcd } from './read-etcd.ts';
import type { Shapes } from './shapes.ts';
import type { Source } from './source.ts';
import { StoredSource } from './stored-source.ts';
import { SourceKeys, type StoredValue } from './stored-values.ts';

interface SourceParts {
  readonly shapes: Shapes;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** The flags of import and verify that name the source. */
export const sourceFlags = {
  from: text('from', {
    meaning: 'a kubeconfig, a file or folder of YAML, postgres://…?kine, or etcd://host:2379',
  }),
  encryption: text('from-encryption-config', {
    meaning: 'the encryption configuration of the source, for kine and etcd',
  }),
  caFile: text('from-cafile', { meaning: 'the authority of etcd' }),
  certFile: text('from-certfile', { meaning: 'the client certificate for etcd' }),
  keyFile: text('from-keyfile', { meaning: 'the key of the client certificate for etcd' }),
} satisfies FlagSet;

/** Opens what --from names. @throws UsageError, Error */
export function openSource(values: ValuesOf<typeof sourceFlags>, parts: SourceParts): Source {
  const { from } = values;
  const { signal, say, shapes } = parts;
  if (from === '') throw new UsageError(`${sourceFlags.from.shown}= is missing: ${sourceFlags.from.meaning}`);
  const stored = storedValues(values);
  if (stored !== undefined)
    return new StoredSource({ shapes, keys: new SourceKeys(values.encryption), values: stored });
  if (!existsSync(from)) throw new UsageError(`${sourceFlags.from.shown}: there is no ${from}`);
  if (statSync(from).isDirectory() || !isKubeconfig(from)) return new FileSource(from, { shapes, signal });
  return new ApiSource({ client: new ApiClient({ kubeconfig: from, signal, say }), shapes, say });
}

/** Undefined: --from names no store. @throws UsageError */
function storedValues({
  from,
  caFile,
  certFile,
  keyFile,
}: ValuesOf<typeof sourceFlags>): (() => AsyncGenerator<StoredValue>) | undefined {
  if (/^postgres(ql)?:\/\//.test(from)) {
    const url = new URL(from);
    if (!url.searchParams.has('kine'))
      throw new UsageError(
        `${sourceFlags.from.shown}: ${hidePasswords(from)}: end it with ?kine, for the table that kine keeps; another pg-apiserver is read by its kubeconfig`,
      );
    url.searchParams.delete('kine');
    return () => readKine(url.href);
  }
  if (!from.startsWith('etcd://')) return undefined;
  if ((certFile === '') !== (keyFile === ''))
    throw new UsageError(
      `${sourceFlags.certFile.shown} and ${sourceFlags.keyFile.shown} belong together: give both or neither`,
    );
  if (certFile !== '' && caFile === '')
    throw new UsageError(`${sourceFlags.certFile.shown} needs ${sourceFlags.caFile.shown}`);
  const { host } = new URL(from);
  return () => readEtcd({ host, caFile, certFile, keyFile });
}

const BEGIN = 64 * 1024;
/** A longer file is none: it may be too long to be read at once. */
const LONGEST_KUBECONFIG = 16 * 1024 * 1024;

/** A file of objects has a kind of its own in each document. */
function isKubeconfig(path: string): boolean {
  if (statSync(path).size > LONGEST_KUBECONFIG) return false;
  const bytes = readFileSync(path);
  if (!/^"?kind"?: *"?Config"?,?$/m.test(bytes.subarray(0, BEGIN).toString()) && bytes.length > BEGIN)
    return false;
  try {
    const { value } = parseYamlText(bytes);
    return isObject(value) && value.kind === 'Config' && Array.isArray(value.clusters);
  } catch {
    return false;
  }
}
