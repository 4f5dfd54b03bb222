import { type Gates, minorOf } from '../../../api/feature-gates.ts';
import type { CustomResourceDefinition } from '../../../api/types/apiextensions/v1.ts';
import { goQuote } from '../../../object/go-value.ts';
import { checksNames, isRecognized } from '../../../structural/schema-formats.ts';
import { someSchema } from '../../../structural/schema-node.ts';

/** A warning for each format that means nothing, since 1.34; in an update for those that the definition did not have before. */
export function formatWarnings(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
  isOn: Gates | undefined,
): string[] {
  if (isOn === undefined || minorOf(isOn) < 34) return [];
  const hasNames = checksNames(isOn);
  const before = old === undefined ? new Set() : unrecognized(old, hasNames);
  return [...unrecognized(definition, hasNames)]
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${goQuote(format)}`);
}

function unrecognized({ spec }: CustomResourceDefinition, hasNames: boolean): Set<string> {
  const found = new Set<string>();
  for (const { schema } of spec?.versions ?? [])
    if (schema?.openAPIV3Schema !== undefined)
      someSchema(schema.openAPIV3Schema, (one) => {
        if ((one.format ?? '') !== '' && !isRecognized(one, hasNames)) found.add(one.format ?? '');
        return false;
      });
  return found;
}
