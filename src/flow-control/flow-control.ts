import type { AuthenticatedRequest } from '../request/api-request.ts';

/** What deciding on a request takes. */
export type FlowRequest = Pick<
  AuthenticatedRequest,
  'user' | 'verb' | 'path' | 'target' | 'query' | 'signal'
>;

/** Who a request was counted with. Answered as UIDs: names would tell callers how important they are taken to be. */
export interface Classification {
  readonly schemaUid: string;
  readonly levelUid: string;
}

/** A request's turn. The caller must end an admitted one, whatever happens. */
export type Turn = AdmittedTurn | RefusedTurn;

export interface AdmittedTurn {
  readonly admitted: true;
  readonly classification: Classification | undefined;
  /** A watch has sent what it begins with: from now on it costs nothing. */
  initialized(): void;
  /** The request is over. Includes {@link AdmittedTurn.initialized}; may be called again. */
  end(): void;
}

export interface RefusedTurn {
  readonly admitted: false;
  readonly classification: Classification | undefined;
  readonly retryAfterSeconds: number;
}

/** How much at once. */
export interface FlowControl {
  /**
   * Undefined: not subject to limits. A promise only for a request that has to wait; the others are not made to pay for
   * a turn of the event loop.
   */
  begin(request: FlowRequest): Turn | Promise<Turn> | undefined;
}
