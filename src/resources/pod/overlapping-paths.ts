import type { DownwardAPIVolumeFile, KeyToPath, Volume, VolumeProjection } from '../../api/types/core/v1.ts';
import { MAX_PROBLEMS } from '../../object/document-limits.ts';

/** A path inside a volume, ended by a slash, and what puts a file there. */
interface Place {
  readonly path: string;
  /** Empty where the volume has one source. */
  readonly source: string;
}

type Files = readonly (KeyToPath | DownwardAPIVolumeFile)[] | undefined;

/** Warns about files of one volume that would hide each other (Kubernetes: api/pod, warnings.go; since 1.32). */
export function addOverlapWarnings(said: string[], volume: Volume): void {
  const { name = '', configMap, secret, downwardAPI, projected } = volume;
  const add = (what: string, places: readonly Place[]): void => {
    const text = `volume ${JSON.stringify(name)} (${what}): overlapping paths:`;
    for (const overlap of overlapsOf(places)) {
      if (said.length >= MAX_PROBLEMS) return;
      said.push(`${text} ${overlap}`);
    }
  };
  if (configMap !== undefined)
    add(`ConfigMap ${JSON.stringify(configMap.name ?? '')}`, placesOf(configMap.items));
  if (secret !== undefined) add(`Secret ${JSON.stringify(secret.secretName ?? '')}`, placesOf(secret.items));
  if (downwardAPI !== undefined) add('DownwardAPI', placesOf(downwardAPI.items));
  if (projected === undefined) return;
  const sources = projected.sources ?? [];
  for (const source of sources)
    if (Object.keys(source).length === 0)
      said.push(`volume ${JSON.stringify(name)} (Projected) has no sources provided`);
  add('Projected', sources.flatMap(placesOfProjection));
}

const placesOf = (files: Files, source = ''): Place[] =>
  (files ?? []).map(({ path = '' }) => toPlace(path, source));

const toPlace = (path: string, source: string): Place => ({ path: `${path.replace(/\/+$/, '')}/`, source });

function placesOfProjection(projection: VolumeProjection): Place[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } =
    projection;
  if (configMap?.items !== undefined)
    return placesOf(configMap.items, `ConfigMap ${JSON.stringify(configMap.name ?? '')}`);
  if (secret?.items !== undefined)
    return placesOf(secret.items, `Secret ${JSON.stringify(secret.name ?? '')}`);
  if (downwardAPI?.items !== undefined) return placesOf(downwardAPI.items, 'DownwardAPI');
  if (serviceAccountToken !== undefined)
    return [toPlace(serviceAccountToken.path ?? '', 'ServiceAccountToken')];
  if (clusterTrustBundle !== undefined) {
    const { name, signerName = '', path = '' } = clusterTrustBundle;
    return [toPlace(path, `ClusterTrustBundle ${JSON.stringify(name ?? signerName)}`)];
  }
  const { certificateChainPath = '', keyPath = '', credentialBundlePath = '' } = podCertificate ?? {};
  const written = [
    toPlace(certificateChainPath, 'PodCertificate chain'),
    toPlace(keyPath, 'PodCertificate key'),
    toPlace(credentialBundlePath, 'PodCertificate credential bundle'),
  ];
  return written.filter(({ path }) => path !== NOWHERE);
}

const NOWHERE = '/';

/** Each path with those before it that it hides, or that hide it. Compares each with the first hundred, if any overlap at all. */
function* overlapsOf(places: readonly Place[]): Generator<string> {
  const written = places.filter(({ path }) => path !== NOWHERE);
  if (!haveOverlap(written)) return;
  for (const [at, place] of written.entries())
    for (const other of written.slice(0, Math.min(at, MAX_PROBLEMS)))
      if (place.path.startsWith(other.path) || other.path.startsWith(place.path))
        yield `${toText(place)} with ${toText(other)}`;
}

/** In their order, a path that lies below another one has one of these right before it. */
function haveOverlap(places: readonly Place[]): boolean {
  const sorted = places.map(({ path }) => path).sort();
  return sorted.some((path, at) => at > 0 && path.startsWith(sorted[at - 1] ?? ''));
}

function toText({ path, source }: Place): string {
  const quoted = JSON.stringify(path.slice(0, -1));
  return source === '' ? quoted : `${quoted} (${source})`;
}
