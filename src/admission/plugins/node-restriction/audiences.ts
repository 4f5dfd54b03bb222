import { CLAIMS } from '../../../api/known-resources.ts';
import type { ResourceOf } from '../../../api/names.ts';
import type { PersistentVolume, Pod, Volume } from '../../../api/types/core/v1.ts';
import type { CSIDriver } from '../../../api/types/storage/v1.ts';
import type { ClusterObjects } from '../../cluster-objects.ts';

/** The audiences of tokens that a pod wants: those in its volumes, and those of the drivers that mount its volumes. */

const VOLUMES: ResourceOf<PersistentVolume> = { group: '', resource: 'persistentvolumes' };
const DRIVERS: ResourceOf<CSIDriver> = { group: 'storage.k8s.io', resource: 'csidrivers' };

interface FoundAudience {
  readonly isFound: boolean;
  /** Objects that are missing on the way to a driver. */
  readonly problems: readonly string[];
}

/** `''`: the audience of the API server itself. */
export async function findAudience(
  objects: ClusterObjects,
  pod: Pod,
  audience: string,
): Promise<FoundAudience> {
  const problems: string[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    if (projectsToken(volume, audience)) return { isFound: true, problems };
    const driver = await driverOf(objects, pod, volume);
    if (driver === undefined) continue;
    const found = driver.kind === 'missing' ? driver : await findDriver(objects, driver.name);
    if (found.kind === 'missing') problems.push(found.why);
    else if (found.audiences.includes(audience)) return { isFound: true, problems };
  }
  return { isFound: false, problems };
}

const projectsToken = ({ projected }: Volume, audience: string): boolean =>
  (projected?.sources ?? []).some(
    ({ serviceAccountToken: token }) => token !== undefined && (token.audience ?? '') === audience,
  );

interface Missing {
  readonly kind: 'missing';
  readonly why: string;
}

const missing = (kind: string, name: string): Missing => ({
  kind: 'missing',
  why: `${kind} ${JSON.stringify(name)} not found`,
});

interface NamedDriver {
  readonly kind: 'driver';
  readonly name: string;
}

async function driverOf(
  objects: ClusterObjects,
  { metadata }: Pod,
  volume: Volume,
): Promise<NamedDriver | Missing | undefined> {
  const { ephemeral, persistentVolumeClaim, csi, name = '' } = volume;
  const namespace = metadata.namespace ?? '';
  if (ephemeral?.volumeClaimTemplate !== undefined)
    return driverOfClaim(objects, namespace, `${metadata.name ?? ''}-${name}`);
  if (persistentVolumeClaim !== undefined)
    return driverOfClaim(objects, namespace, persistentVolumeClaim.claimName ?? '');
  return named(csi?.driver ?? migratedDriver(volume));
}

const named = (name: string | undefined): NamedDriver | undefined =>
  name === undefined ? undefined : { kind: 'driver', name };

async function driverOfClaim(
  objects: ClusterObjects,
  namespace: string,
  name: string,
): Promise<NamedDriver | Missing | undefined> {
  const claim = await objects.find(CLAIMS, namespace, name);
  if (claim === undefined) return missing('persistentvolumeclaim', name);
  const { volumeName = '' } = claim.spec ?? {};
  const volume = await objects.find(VOLUMES, '', volumeName);
  if (volume === undefined) return missing('persistentvolume', volumeName);
  return named(volume.spec?.csi?.driver ?? migratedDriver(volume.spec ?? {}));
}

/** Drivers of the volume types that Kubernetes once mounted itself. */
const MIGRATED: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
};

const migratedDriver = (source: Readonly<Record<string, unknown>>): string | undefined =>
  Object.entries(MIGRATED).find(([field]) => source[field] !== undefined)?.[1];

async function findDriver(
  objects: ClusterObjects,
  name: string,
): Promise<{ readonly kind: 'found'; readonly audiences: readonly string[] } | Missing> {
  const driver = await objects.find(DRIVERS, '', name);
  if (driver === undefined) return missing('csidriver.storage.k8s.io', name);
  const audiences = (driver.spec?.tokenRequests ?? []).map(({ audience = '' }) => audience);
  return { kind: 'found', audiences };
}
