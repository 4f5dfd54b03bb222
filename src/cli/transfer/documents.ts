import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { toYaml } from '../../codec/yaml/emitter.ts';
import { parseYamlFile } from '../../codec/yaml-text.ts';
import { parseJsonBytes } from '../../object/exact-json.ts';
import { isObject } from '../../object/json-values.ts';
import { errorText } from '../../util/error-text.ts';

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
const MARKED_UID = new RegExp(`^${MARK}\\{"uid":"([^"\\\\]+)"`);
export const LONGEST_UID_LINE = 100;

/** The uid of an object by the begin of its document in an export. */
export const uidIn = (begin: string): string | undefined => MARKED_UID.exec(begin)?.[1];

/** A document of one object, or a List. */
type ReadDocument =
  | { readonly kind: 'empty' }
  | { readonly kind: 'object'; readonly object: JsonObject }
  | { readonly kind: 'list'; readonly items: readonly JsonValue[] };

/** @throws Error */
export function readDocument(text: string): ReadDocument {
  const value = parseDocument(text);
  if (value === null) return { kind: 'empty' };
  if (!isObject(value)) throw new Error('it is no object');
  if (isList(value.kind) && Array.isArray(value.items)) return { kind: 'list', items: value.items };
  return { kind: 'object', object: withKept(value, text) };
}

export const isList = (kind: JsonValue | undefined): boolean => String(kind).endsWith('List');

const JSON_OBJECT = /^\s*\{/;
/** The rest of the separator's line, and what would shift the line numbers in errors. */
const EMPTY_LINES = /^(?:[ \t\r]*\n)+/;

/** Empty lines at the end of YAML stay, because they may belong to its last text. @throws Error */
function parseDocument(text: string): JsonValue {
  if (JSON_OBJECT.test(text)) return parseJsonBytes(Buffer.from(text.trim()));
  return parseYamlFile(text.replace(EMPTY_LINES, ''));
}

function withKept(object: JsonObject, document: string): JsonObject {
  const begin = document.trimStart();
  if (!begin.startsWith(MARK)) return object;
  const end = begin.indexOf('\n');
  const kept: JsonValue = JSON.parse(begin.slice(MARK.length, end));
  const metadata = isObject(object.metadata) ? object.metadata : {};
  return isObject(kept) ? { ...object, metadata: { ...metadata, ...kept } } : object;
}

/**
 * An item that was cut out of a List: a value in JSON, or in YAML a list of one. `line`: how many lines of YAML the document has before
 * it, for errors.
 * @throws Error
 */
export function readItem(text: string, line: number | undefined): JsonValue {
  if (line === undefined) return parseJsonBytes(Buffer.from(text));
  const value = inPlace(text, line);
  if (!Array.isArray(value) || value.length !== 1) throw new Error('it is no item of a list');
  return value[0] ?? null;
}

/** An error names its line in the document. One line before the item is enough to have the words that lines behind the first have. */
function inPlace(text: string, line: number): JsonValue {
  try {
    return parseYamlFile(text);
  } catch (error) {
    if (line === 0) throw error;
  }
  try {
    return parseYamlFile(`\n${text}`);
  } catch (error) {
    const shifted = errorText(error).replace(
      SHOWN_LINE,
      (_, shown) => `yaml: line ${Number(shown) + line - 1}`,
    );
    throw new SyntaxError(shifted, { cause: error });
  }
}

const SHOWN_LINE = /^yaml: line (\d+)/;
