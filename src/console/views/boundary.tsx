import { Component, type ComponentChildren, type JSX } from 'preact';
import { Trouble } from './notice.tsx';

/** What breaks while it is drawn is told in its place; the rest of the page goes on. */
export class Boundary extends Component<
  { readonly children: ComponentChildren },
  { readonly error?: unknown }
> {
  override componentDidCatch(error: unknown): void {
    // For whoever looks into the browser's log.
    console.error(error);
    this.setState({ error });
  }

  render(): JSX.Element {
    const { error } = this.state;
    if (error === undefined) return <>{this.props.children}</>;
    return <Trouble error={error} retry={() => location.reload()} />;
  }
}
