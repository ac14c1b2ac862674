/** Pointer, wheel and keyboard control of the map. */
import { pointers, type Point } from '../../../lib/chart/gestures';
import { WORLD, bounded, unit, zoomedAt, type MapView, type Size } from './map-view';

interface MapTarget extends Omit<Parameters<typeof pointers>[0], 'pan' | 'pinch' | 'wheel' | 'double'> {
  view: () => MapView;
  size: () => Size;
  setView: (view: MapView) => void;
}

export function mapGestures(target: MapTarget): (element: HTMLElement) => () => void {
  const { view, size, setView } = target;
  const zoom = (factor: number, { x, y }: Point): void => setView(zoomedAt(view(), size(), factor, x, y));
  return pointers({
    ...target,
    pan(before, at) {
      const now = view();
      const scale = unit(size(), now.zoom);
      setView(bounded({ ...now, x: now.x - (at.x - before.x) / scale, y: now.y - (at.y - before.y) / scale }));
    },
    pinch(before, at, other) {
      const apart = Math.max(8, Math.hypot(before.x - other.x, before.y - other.y));
      const middle = { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 };
      zoom(Math.hypot(at.x - other.x, at.y - other.y) / apart, middle);
    },
    wheel(event, at) {
      const delta = Math.max(-300, Math.min(300, event.deltaY * (event.deltaMode === 1 ? 18 : 1)));
      zoom(Math.exp(-delta * (event.ctrlKey ? 0.011 : 0.002)), at);
    },
    double: (_, at) => zoom(2.2, at),
  });
}

/** Returns the keyboard handler of the map. */
export function mapKeys(map: {
  view: () => MapView;
  size: () => Size;
  setView: (view: MapView) => void;
  zoom: (factor: number) => void;
}): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const view = map.view();
    const step = 60 / unit(map.size(), view.zoom);
    const keys: Record<string, () => void> = {
      ArrowLeft: () => map.setView(bounded({ ...view, x: view.x - step })),
      ArrowRight: () => map.setView(bounded({ ...view, x: view.x + step })),
      ArrowUp: () => map.setView(bounded({ ...view, y: view.y - step })),
      ArrowDown: () => map.setView(bounded({ ...view, y: view.y + step })),
      '+': () => map.zoom(1.6),
      '=': () => map.zoom(1.6),
      '-': () => map.zoom(1 / 1.6),
      Home: () => map.setView(WORLD),
    };
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
}
