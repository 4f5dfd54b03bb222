import jsonPatch, { type Operation } from 'fast-json-patch';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';

/** A patch that cannot be read (`malformed`, 400) or does not fit the object (`inapplicable`, 422). */
export class PatchError extends Error {
  readonly kind: 'malformed' | 'inapplicable' | 'too-many';

  constructor(kind: PatchError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PatchError';
    this.kind = kind;
  }
}

const MAX_OPERATIONS = 10_000;
const VERBS: ReadonlySet<unknown> = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

/** JSON Patch (RFC 6902). The input is not changed. @throws PatchError */
export function applyJsonPatch(object: JsonObject, patch: JsonValue): JsonObject {
  if (!Array.isArray(patch))
    throw new PatchError('malformed', 'json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  if (patch.length > MAX_OPERATIONS) {
    throw new PatchError(
      'too-many',
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`,
    );
  }
  for (const operation of patch) assertOperation(operation);
  try {
    const result = jsonPatch.applyPatch(object, patch as unknown as Operation[], true, false, true);
    return result.newDocument;
  } catch (cause) {
    throw new PatchError('inapplicable', reasonOf(cause), { cause });
  }
}

function assertOperation(operation: JsonValue): void {
  const valid = typeof operation === 'object' && operation !== null && !Array.isArray(operation);
  if (!valid || !VERBS.has(operation.op) || typeof operation.path !== 'string') {
    throw new PatchError(
      'malformed',
      `Unexpected kind: ${JSON.stringify(valid ? (operation.op ?? null) : operation)}`,
    );
  }
}

/** The library's messages carry the whole document; the first line says what is wrong. */
function reasonOf(cause: unknown): string {
  const [line = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  return line;
}
