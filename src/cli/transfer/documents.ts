import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { toYaml } from '../../codec/yaml/emitter.ts';
import { parseYamlFile } from '../../codec/yaml-text.ts';
import { parseJsonBytes } from '../../object/exact-json.ts';
import { isObject } from '../../object/json-values.ts';
import { errorText } from '../../util/error-text.ts';
import { objectsOf } from './api-resources.ts';

/**
 * A document of an export. Another cluster refuses an object with the uid or the time of creation of this one, and server-side apply
 * one with managed fields: they are in a comment, which kubectl ignores and `import` reads. There is no resourceVersion.
 *
 *     ---
 *     # pg-apiserver: {"uid":"…","creationTimestamp":"…","managedFields":[…]}
 *     apiVersion: v1
 */
export function toDocument(object: JsonObject): string {
  const { resourceVersion: _, ...all } = isObject(object.metadata) ? object.metadata : {};
  const { uid, creationTimestamp, managedFields, ...metadata } = all;
  const kept = JSON.stringify({ uid, creationTimestamp, managedFields });
  return `---\n${MARK}${kept}\n${toYaml({ ...object, metadata })}`;
}

const MARK = '# pg-apiserver: ';
const SEPARATOR = /^---(?:[ \t].*)?$/m;

/**
 * The objects of a file of YAML or JSON, those of lists each alone.
 * @throws Error that names the file and the document
 */
export function* readDocuments(path: string, text: string): Generator<JsonObject> {
  const documents = /\.json$/.test(path) ? [text] : text.split(SEPARATOR);
  for (const [at, document] of documents.entries()) {
    const value = parse(document, `${path}, document ${at + 1}`);
    if (value === null) continue;
    if (!isObject(value)) throw new Error(`${path}, document ${at + 1}: it is no object`);
    if (Array.isArray(value.items) && String(value.kind).endsWith('List')) yield* objectsOf(value.items);
    else yield withKept(value, document);
  }
}

const JSON_OBJECT = /^\s*\{/;
/** The rest of the separator's line, and what would shift the line numbers in errors. */
const EMPTY_LINES = /^(?:[ \t\r]*\n)+/;

/** Empty lines at the end of YAML stay, because they may belong to its last text. @throws Error */
function parse(document: string, where: string): JsonValue {
  try {
    if (JSON_OBJECT.test(document)) return parseJsonBytes(Buffer.from(document.trim()));
    return parseYamlFile(document.replace(EMPTY_LINES, ''));
  } catch (error) {
    throw new Error(`${where}: ${errorText(error)}`, { cause: error });
  }
}

function withKept(object: JsonObject, document: string): JsonObject {
  const begin = document.trimStart();
  if (!begin.startsWith(MARK)) return object;
  const end = begin.indexOf('\n');
  const kept: JsonValue = JSON.parse(begin.slice(MARK.length, end));
  const metadata = isObject(object.metadata) ? object.metadata : {};
  return isObject(kept) ? { ...object, metadata: { ...metadata, ...kept } } : object;
}
