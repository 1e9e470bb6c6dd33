use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata,
    SharedString, Unit,
};

/// A recorder that keeps every value. Its clones share them.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Arc<Mutex<Recorded>>);

#[derive(Default)]
struct Recorded {
    values: BTreeMap<Series, Vec<f64>>,
    described: BTreeMap<String, (&'static str, Unit)>,
}

/// One series.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) labels: Vec<(String, String)>,
}

impl Recorder {
    /// The sum of a counter over all series with this label value; an empty value means all series.
    pub(crate) fn count(&self, name: &str, label: &str) -> f64 {
        self.values(name, label).iter().sum()
    }

    /// All values that were recorded under this name and label value. A gauge's last value is at the end.
    pub(crate) fn values(&self, name: &str, label: &str) -> Vec<f64> {
        let has_label = |series: &Series| {
            label.is_empty() || series.labels.iter().any(|(_, value)| value == label)
        };
        let recorded = self.lock();
        let of_name =
            recorded.values.iter().filter(|(series, _)| series.name == name && has_label(series));
        of_name.flat_map(|(_, values)| values.clone()).collect()
    }

    pub(crate) fn series(&self) -> BTreeSet<Series> {
        self.lock().values.keys().cloned().collect()
    }

    /// The kind and unit of each metric that was described.
    pub(crate) fn described(&self) -> BTreeMap<String, (&'static str, Unit)> {
        self.lock().described.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&self, kind: &'static str, key: &Key) -> Arc<Handle> {
        let labels =
            key.labels().map(|label| (label.key().to_owned(), label.value().to_owned())).collect();
        let series = Series { name: key.name().to_owned(), kind, labels };
        Arc::new(Handle { recorder: self.clone(), series })
    }

    fn describe(
        &self,
        kind: &'static str,
        name: &KeyName,
        unit: Option<Unit>,
        meaning: &SharedString,
    ) {
        assert!(meaning.len() > 10, "{meaning}");
        let unit = unit.expect("every metric has a unit");
        assert_eq!(
            self.lock().described.insert(name.as_str().to_owned(), (kind, unit)),
            None,
            "{}",
            name.as_str()
        );
    }
}

impl metrics::Recorder for Recorder {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, meaning: SharedString) {
        self.describe("counter", &name, unit, &meaning);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, meaning: SharedString) {
        self.describe("gauge", &name, unit, &meaning);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, meaning: SharedString) {
        self.describe("histogram", &name, unit, &meaning);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        self.handle("counter", key).into()
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        self.handle("gauge", key).into()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        self.handle("histogram", key).into()
    }
}

struct Handle {
    recorder: Recorder,
    series: Series,
}

impl Handle {
    fn push(&self, value: f64) {
        self.recorder.lock().values.entry(self.series.clone()).or_default().push(value);
    }
}

impl CounterFn for Handle {
    fn increment(&self, by: u64) {
        self.push(u32::try_from(by).expect("a test counts no further").into());
    }

    fn absolute(&self, _: u64) {
        unreachable!("counters only grow");
    }
}

impl GaugeFn for Handle {
    fn increment(&self, _: f64) {
        unreachable!("gauges are set");
    }

    fn decrement(&self, _: f64) {
        unreachable!("gauges are set");
    }

    fn set(&self, value: f64) {
        self.push(value);
    }
}

impl HistogramFn for Handle {
    fn record(&self, value: f64) {
        self.push(value);
    }
}
