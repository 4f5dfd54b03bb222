import type { CustomResourceDefinition } from '../../../api/types/apiextensions/v1.ts';
import { problemsOf } from '../../../object/field-path.ts';
import { validateStructural } from './structural.ts';

/** Describes why the schemas of a definition are not structural, in one text; '' if they are. */
export function structuralViolations({ spec = {} }: CustomResourceDefinition): string {
  const found = problemsOf((root) => {
    for (const [at, { schema }] of root.field('spec').field('versions').each(spec.versions)) {
      const { openAPIV3Schema } = schema ?? {};
      if (openAPIV3Schema !== undefined)
        validateStructural(at.field('schema').field('openAPIV3Schema'), openAPIV3Schema);
    }
  });
  const texts = [...new Set(found.map(({ field, message }) => `${field}: ${message}`))];
  const [only = ''] = texts;
  return texts.length > 1 ? `[${texts.join(', ')}]` : only;
}
