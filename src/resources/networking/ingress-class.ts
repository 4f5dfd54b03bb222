import type { ApiObject } from '../../api/object-meta.ts';
import { part, text } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { age, NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { validateIngressClass, validateIngressClassUpdate } from './validation/ingress-class.ts';

export const ingressclasses = define({
  group: 'networking.k8s.io',
  resource: 'ingressclasses',
  kind: 'IngressClass',
  namespaced: false,
  versions: [{ version: 'v1', type: 'networking/v1.IngressClass' }],
  table: {
    columns: [nameColumn(), column('Controller'), column('Parameters'), column('Age')],
    cells: ingressClassCells,
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaults: (ingressClass) => {
      const spec = part(ingressClass, 'spec');
      if (spec.parameters === undefined) return;
      const parameters = part(spec, 'parameters');
      parameters.scope = text(parameters.scope, 'Cluster');
    },
    validate: validateIngressClass,
    validateUpdate: validateIngressClassUpdate,
  },
});

function ingressClassCells(ingressClass: ApiObject, now: number): readonly Cell[] {
  const spec = part(ingressClass, 'spec');
  const { kind, apiGroup, name } = part(spec, 'parameters');
  const group = apiGroup === undefined ? '' : `.${text(apiGroup)}`;
  return [
    ingressClass.metadata.name ?? '',
    text(spec.controller),
    spec.parameters === undefined ? NONE : `${text(kind)}${group}/${text(name)}`,
    age(ingressClass, now),
  ];
}
