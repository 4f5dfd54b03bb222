/** What a form shows: the objects as what they are, or their metadata as what Kubernetes calls partial objects. */
export interface Shown {
  readonly kind: string;
  readonly listKind: string;
  readonly apiVersion: string;
  readonly metadataOnly: boolean;
}
