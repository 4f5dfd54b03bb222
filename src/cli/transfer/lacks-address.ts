import type { ApiObject } from '../../api/object-meta.ts';
import type { Shaped } from './shapes.ts';

/** Whether it is a service that was never in a cluster. */
export function lacksAddress(shaped: Shaped): boolean {
  const { group, resource } = shaped.key;
  if (group !== '' || resource !== 'services') return false;
  const { spec } = shaped.object as ApiObject & {
    readonly spec?: { readonly type?: string; readonly clusterIP?: string };
  };
  return spec?.type !== 'ExternalName' && (spec?.clusterIP ?? '') === '';
}
