import type { CustomResourceDefinition } from '../../src/api/types/apiextensions/v1.ts';

export interface DefinitionOutline {
  readonly group?: string;
  readonly plural: string;
  readonly kind: string;
  readonly shortNames?: string[];
  readonly singular?: string;
  readonly listKind?: string;
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly annotations?: Record<string, string>;
}

/** A definition with one version, v1, whose objects may have any fields. */
export function definitionOf(outline: DefinitionOutline): CustomResourceDefinition {
  const { group = 'stable.example.com', scope = 'Namespaced', annotations, ...names } = outline;
  return {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: `${names.plural}.${group}`, ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      group,
      scope,
      names,
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
}
