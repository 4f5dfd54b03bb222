/** A patch that cannot be read (`malformed`, 400) or does not fit the object (`inapplicable`, 422). */
export class PatchError extends Error {
  readonly kind: 'malformed' | 'inapplicable' | 'too-many';

  constructor(kind: PatchError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PatchError';
    this.kind = kind;
  }
}
