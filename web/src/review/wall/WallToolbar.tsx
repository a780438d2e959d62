// The toolbar of the wall: filters, search and order.
import { useComputed } from "@preact/signals";
import { whole } from "../formatting";
import { scoring } from "../progress";
import type { Filter, Order } from "../results/pictureList";
import { chosenOrder, counts, filter, hasTruth, markedCount, names, order, search, shown } from "../state";

const FILTER_TITLES: Record<Filter, string> = {
  all: "All",
  "false positives": "False positives",
  "false negatives": "False negatives",
  alarms: "Alarms",
  marked: "To correct",
  unreadable: "Unreadable",
};

/** Return the filters to offer: errors are known only with annotations. */
export const offeredFilters = () =>
  (Object.keys(FILTER_TITLES) as Filter[]).filter((each) => hasTruth.value || !each.startsWith("false"));

export const offeredOrders = (): Order[] => (hasTruth.value ? ["errors", "score", "name"] : ["score", "name"]);

const ORDER_TITLES: Record<Order, string> = { errors: "Worst errors first", score: "Highest score first", name: "By name" };

export function WallToolbar() {
  const numbers = useComputed<Record<Filter, number>>(() => ({
    all: names.value.length,
    "false positives": counts.value.falseAlarms?.n ?? 0,
    "false negatives": counts.value.detected ? counts.value.detected.of - counts.value.detected.n : 0,
    alarms: counts.value.alarms.n,
    marked: markedCount.value,
    unreadable: scoring.value.failed,
  }));
  return (
    <div class="toolbar wall-toolbar">
      <div class="filters" role="group" aria-label="Show">
        {offeredFilters().map((each) => (
          <button key={each} data-filter={each} aria-pressed={filter.value === each} onClick={() => (filter.value = each)}>
            {FILTER_TITLES[each]} <span class="number filter-number">{whole(numbers.value[each])}</span>
          </button>
        ))}
      </div>
      <span class="grow" />
      {shown.value.length !== numbers.value[filter.value] && <span class="quiet number">{whole(shown.value.length)} found</span>}
      <input
        id="search"
        type="search"
        aria-label="Search by name"
        placeholder="Search by name"
        value={search.value}
        onInput={(event) => (search.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") search.value = "";
          if (event.key !== "Escape" && event.key !== "Enter") return;
          event.preventDefault();
          event.currentTarget.blur();
        }}
      />
      <select
        id="order"
        aria-label="Order"
        value={order.value}
        onChange={(event) => (chosenOrder.value = event.currentTarget.value as Order)}
      >
        {offeredOrders().map((each) => (
          <option key={each} value={each}>
            {ORDER_TITLES[each]}
          </option>
        ))}
      </select>
    </div>
  );
}
