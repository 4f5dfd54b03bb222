import type { JsonObject } from '../api/object-meta.ts';
import type { CustomResourceDefinitionVersion } from '../api/types/apiextensions/v1.ts';
import { withinInt64 } from '../object/exact-json.ts';
import { goPlain } from '../object/go-value.ts';
import { type JsonPath, JsonPathError, readJsonPath } from '../object/json-path.ts';
import type { SelectableFields } from '../registry/resource-definition.ts';

/**
 * Field selectors of a version: its definition's paths without the first dot, read from objects of that version. Absent fields
 * are ''.
 */
export function toSelectableFields({ selectableFields }: CustomResourceDefinitionVersion): SelectableFields {
  const paths = new Map(
    (selectableFields ?? []).map(({ jsonPath = '' }) => [
      jsonPath.replace(/^\./, ''),
      readJsonPath(jsonPath),
    ]),
  );
  return {
    names: [...paths.keys()],
    aliases: {},
    read: (object) => Object.fromEntries(paths.entries().map(([name, path]) => [name, textAt(object, path)])),
  };
}

function textAt(object: JsonObject, path: JsonPath | undefined): string {
  try {
    const value = path?.find(object)[0] ?? null;
    return value === null ? '' : goPlain(withinInt64(value));
  } catch (error) {
    if (error instanceof JsonPathError) return '';
    throw error;
  }
}
