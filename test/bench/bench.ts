import type { Settings } from './arguments.ts';
import type { Environment } from './environment/environment.ts';
import type { KeptServer } from './environment/kept-server.ts';
import type { Limits } from './limit/limits.ts';
import type { GeneratorCalls } from './load/jobs.ts';
import type { Worker } from './process/worker.ts';
import type { Row } from './report/row.ts';
import type { Shape } from './scale/shape.ts';

/** What every scenario has. */
export interface Stage {
  readonly settings: Settings;
  readonly generator: Worker<GeneratorCalls>;
  readonly limits: Limits;
  /** A server of the scenario's own; it disposes of it. */
  open(): Promise<Environment>;
  /** The one figure, or the other with --quick. */
  scale(full: number, quick: number): number;
}

/** What those have that share a server with the others of their group. */
export interface Bench extends Stage {
  readonly environment: Environment;
}

/** What those have that share data which other runs left. */
export interface KeptBench extends Bench, AsyncDisposable {
  readonly environment: KeptServer;
  readonly shape: Shape;
}

/** A measured row is named after its scenario, unless it says more. */
export type Figures = Omit<Row, 'scenario' | 'status'> & Partial<Pick<Row, 'scenario' | 'status'>>;

export interface Scenario<On> {
  readonly name: string;
  run(on: On): Promise<Figures | readonly Figures[]>;
}

export type Group =
  | {
      readonly server: 'shared';
      readonly scenarios: readonly Scenario<Bench>[];
      /** Before the first of them. What it loads is there for all. */
      prepare?(bench: Bench, chosen: readonly string[]): Promise<void>;
    }
  | { readonly server: 'own'; readonly scenarios: readonly Scenario<Stage>[] }
  | {
      readonly server: 'kept';
      readonly scenarios: readonly Scenario<KeptBench>[];
      /** Data that takes long to make: once for all of them, which leave it to the next run. */
      open(stage: Stage): Promise<KeptBench>;
    };
