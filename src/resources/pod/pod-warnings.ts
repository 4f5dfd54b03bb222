import type { JsonObject } from '../../api/object-meta.ts';

/** `path` is `spec.template`, for example. */
export function podTemplateWarnings(_template: JsonObject, _path: string): string[] {
  return [];
}
