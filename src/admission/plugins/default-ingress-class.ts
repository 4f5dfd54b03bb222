import { part } from '../../object/parts.ts';
import type { AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { newestDefault } from './newest-default.ts';

const DEFAULT_ANNOTATIONS = ['ingressclass.kubernetes.io/is-default-class'];
/** Where the class of an ingress stood before it had a field. */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** An ingress that names no class gets the default one, if there is one (Kubernetes: network/defaultingressclass). */
export function createDefaultIngressClass(objects: ClusterObjects): AdmissionPlugin {
  const classes = objects.follow({ group: 'networking.k8s.io', resource: 'ingressclasses' });
  return {
    name: 'DefaultIngressClass',
    operations: ['CREATE'],
    mutate: ({ definition, subresource, object }) => {
      if (definition.resource !== 'ingresses' || definition.group !== 'networking.k8s.io') return;
      if (object === undefined || subresource !== '') return;
      const spec = part(object, 'spec');
      if (
        spec.ingressClassName !== undefined ||
        object.metadata.annotations?.[CLASS_ANNOTATION] !== undefined
      )
        return;
      const name = newestDefault(classes.in(''), DEFAULT_ANNOTATIONS);
      if (name !== undefined) object.spec = { ...spec, ingressClassName: name };
    },
  };
}
