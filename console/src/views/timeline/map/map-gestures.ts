/** Pointer, wheel and keyboard control of the map. */
import { WORLD, bounded, unit, zoomedAt, type MapView, type Size } from './map-view';

interface Point {
  x: number;
  y: number;
}

interface MapTarget {
  view: () => MapView;
  size: () => Size;
  setView: (view: MapView) => void;
  /** Whether a drag selects a box without the Shift key. */
  isBrushing: () => boolean;
  brush: (part: { from: Point; to: Point } | null, isDone: boolean) => void;
  hover: (point: Point | null) => void;
  click: (point: Point) => void;
}

/** Movements up to this distance are a click. */
const CLICK_PIXELS = 4;

export function mapGestures(target: MapTarget): (element: HTMLElement) => () => void {
  return (element) => {
    const pointers = new Map<number, Point>();
    let start: Point = { x: 0, y: 0 };
    let hasMoved = false;
    let isBox = false;
    const point = (event: MouseEvent): Point => ({ x: event.offsetX, y: event.offsetY });

    function down(event: PointerEvent): void {
      if (event.button !== 0) return;
      element.setPointerCapture(event.pointerId);
      start = point(event);
      pointers.set(event.pointerId, start);
      hasMoved = pointers.size > 1;
      isBox = pointers.size === 1 && (event.shiftKey || target.isBrushing());
    }

    function move(event: PointerEvent): void {
      const at = point(event);
      const before = pointers.get(event.pointerId);
      if (before === undefined) {
        target.hover(at);
        return;
      }
      if (!hasMoved && Math.hypot(at.x - start.x, at.y - start.y) < CLICK_PIXELS) return;
      hasMoved = true;
      target.hover(null);
      const otherPointer = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
      const [view, size] = [target.view(), target.size()];
      if (otherPointer) {
        const apart = Math.max(8, Math.hypot(before.x - otherPointer.x, before.y - otherPointer.y));
        const factor = Math.hypot(at.x - otherPointer.x, at.y - otherPointer.y) / apart;
        target.setView(zoomedAt(view, size, factor, (at.x + otherPointer.x) / 2, (at.y + otherPointer.y) / 2));
      } else if (isBox) target.brush({ from: start, to: at }, false);
      else {
        const scale = unit(size, view.zoom);
        target.setView(
          bounded({ ...view, x: view.x - (at.x - before.x) / scale, y: view.y - (at.y - before.y) / scale }),
        );
      }
      pointers.set(event.pointerId, at);
    }

    function up(event: PointerEvent): void {
      if (!pointers.delete(event.pointerId)) return;
      const isDone = event.type !== 'pointercancel' && isBox && hasMoved;
      target.brush(isDone ? { from: start, to: point(event) } : null, true);
    }

    // After a tap, browsers move the focus before the click event: act on the click, so that an opened element keeps
    // the focus.
    function click(event: MouseEvent): void {
      if (!hasMoved) target.click(point(event));
    }

    function wheel(event: WheelEvent): void {
      event.preventDefault();
      const unitPixels = event.deltaMode === 1 ? 18 : 1;
      const delta = Math.max(-300, Math.min(300, event.deltaY * unitPixels));
      const factor = Math.exp(-delta * (event.ctrlKey ? 0.011 : 0.002));
      target.setView(zoomedAt(target.view(), target.size(), factor, event.offsetX, event.offsetY));
    }

    const double = (event: MouseEvent): void =>
      target.setView(zoomedAt(target.view(), target.size(), 2.2, event.offsetX, event.offsetY));
    const leave = (): void => target.hover(null);

    const listeners = new AbortController();
    const { signal } = listeners;
    element.addEventListener('pointerdown', down, { signal });
    element.addEventListener('pointermove', move, { signal });
    element.addEventListener('pointerup', up, { signal });
    element.addEventListener('pointercancel', up, { signal });
    element.addEventListener('click', click, { signal });
    element.addEventListener('pointerleave', leave, { signal });
    element.addEventListener('dblclick', double, { signal });
    element.addEventListener('wheel', wheel, { passive: false, signal });
    return () => listeners.abort();
  };
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
