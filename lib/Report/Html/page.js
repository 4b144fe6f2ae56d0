// What a page does beyond links and things that open: sorted tables, keys, and
// opening what an address points into. Without it the page says the same.
(function () {
  'use strict';

  // A column is one of numbers if all that it holds begin with one.
  var startsWithNumber = /^[-+]?\d[\d,]*(\.\d+)?(?![\w.])/;

  function sortBy(table, column, down) {
    var body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows);
    var numbers = true;
    rows.forEach(function (row, index) {
      row.stark = row.stark === undefined ? index : row.stark;
      row.says = row.cells[column].textContent.trim();
      if (row.says === '-') row.says = '';
      if (row.says && !startsWithNumber.test(row.says)) numbers = false;
    });
    rows.sort(function (a, b) {
      // What has no value comes last, whichever way.
      if (!a.says || !b.says) return (a.says ? -1 : 0) + (b.says ? 1 : 0) || a.stark - b.stark;
      var order = numbers
        ? parseFloat(a.says.replace(/,/g, '')) - parseFloat(b.says.replace(/,/g, ''))
        : a.says < b.says ? -1 : a.says > b.says ? 1 : 0;
      return (down ? -order : order) || a.stark - b.stark;
    });
    rows.forEach(function (row) { body.appendChild(row); });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell, index) {
      if (index === column) cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
    });
  }

  document.querySelectorAll('table.sortable').forEach(function (table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell, column) {
      var button = document.createElement('button');
      button.type = 'button';
      button.textContent = cell.textContent;
      button.title = 'Sort by this column';
      cell.textContent = '';
      cell.appendChild(button);
      button.addEventListener('click', function () {
        sortBy(table, column, cell.getAttribute('aria-sort') === 'ascending');
      });
    });
  });

  // An address of something inside a closed part opens it.
  function reveal() {
    var id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch (error) { /* an address that is none leads nowhere */ }
    var target = id && document.getElementById(id);
    if (!target) return;
    for (var at = target; at; at = at.parentElement)
      if (at.tagName === 'DETAILS') at.open = true;
    target.scrollIntoView();
  }
  window.addEventListener('hashchange', reveal);
  // Followed once more, an address does not change.
  document.addEventListener('click', function (event) {
    var link = event.target.closest && event.target.closest('a[href^="#"]');
    if (link && link.getAttribute('href') === location.hash) reveal();
  });
  reveal();

  // j, k: the next attempt, the one before.
  document.addEventListener('keydown', function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    var tag = event.target.tagName;
    if (tag === 'INPUT' || tag === 'TEXTAREA') return;
    var step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
    var nodes = document.querySelectorAll('article.node');
    if (!step || !nodes.length) return;
    var now = -1;
    nodes.forEach(function (node, index) { if ('#' + node.id === location.hash) now = index; });
    var next = Math.min(nodes.length - 1, Math.max(0, now + step));
    location.hash = nodes[next].id;
    event.preventDefault();
  });

  // Paper shows what is closed on the screen only where it is short.
  var opened = [];
  window.addEventListener('beforeprint', function () {
    document.querySelectorAll('details').forEach(function (part) {
      if (!part.open && /-instruction$/.test(part.id)) { part.open = true; opened.push(part); }
    });
  });
  window.addEventListener('afterprint', function () {
    opened.forEach(function (part) { part.open = false; });
    opened = [];
  });
})();
